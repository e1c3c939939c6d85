// The model inside the page: a WebAssembly module of the very code that made the page (web/model/module.cpp). Numbers
// go in and come out through one area of its memory.
import type {Num, PageData, View} from "./data";

export const FACTORS = ["sms", "clock", "tensor", "l2.capacity", "l2.bandwidth", "dram.bandwidth"] as const;
export type Factor = typeof FACTORS[number];
// What the reader set: factors on the machine, a batch, and another GPU of the catalogue ("": the page's own).
export type Design = Record<Factor, number>&{
  batch: number;
  gpu: string
};
export const startDesign = (): Design =>
    ({sms: 1, clock: 1, tensor: 1, "l2.capacity": 1, "l2.bandwidth": 1, "dram.bandwidth": 1, batch: 1, gpu: ""});
export const isStart = (d: Design) => !d.gpu && d.batch === 1 && FACTORS.every((f) => d[f] === 1);

const PER_LAYER = 12;
const TERMS = ["compute", "issue", "latency", "shared memory", "L1", "L2", "DRAM", "launch", "link"];
export const LEVELS = ["shared", "L1", "L2", "L3", "DRAM"];
const REFUSALS = [
  "", "the GPU lacks this arithmetic", "its tensors do not fit the GPU's memory", "no SM can hold a tile of it",
  "the GPU lacks a number that the model needs", "the batch does not divide"
];

export interface LayerResult {
  refusal: string;
  time: number;
  low: number;
  high: number;
  work: number;
  l1: number;
  l2: number;
  dram: number;
  waitsFor: string;
  pipe: string;
  bound: string;
  shortest: number;
}
export interface RoofValues {
  pipes: Record<string, number>;
  levels: Record<string, number>;
}

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  area(count: number): number;
  start(measured: number): void;
  add_machine(): number;
  add_layer(machine: number, clock: number): number;
  evaluate(batch: number, machine: number): number;
  roofs(machine: number): number;
  start_values(machine: number): number;
}

async function unpacked(base64: string): Promise<ArrayBuffer> {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

export class Model {
  private catalogue = new Map<string, number>();  // machines of the catalogue by their index in the module
  private own = 0;

  private constructor(private module: Exports, private view: View, private pipes: string[]) {}

  // Fails where the browser cannot compile it, or where the page was made by a version with other numbers.
  static async load(data: PageData, view: View): Promise<Model> {
    const nothing = () => 0;
    const system = {
      environ_get: nothing,
      environ_sizes_get: nothing,
      fd_close: nothing,
      fd_seek: nothing,
      fd_write: nothing,
      proc_exit: nothing
    };
    const {instance} = await WebAssembly.instantiate(await unpacked(data.module!), {wasi_snapshot_preview1: system});
    const model = new Model(instance.exports as unknown as Exports, view, Object.keys(data.pipes));
    model.module._initialize();
    model.fill(data);
    return model;
  }

  private numbers(at: number, count: number): Float64Array {
    return new Float64Array(this.module.memory.buffer, at, count);
  }
  private give(numbers: Num[]) {
    const at = this.module.area(numbers.length), area = this.numbers(at, numbers.length);
    numbers.forEach((n, i) => (area[i] = n === null ? NaN : n));
  }

  private fill(data: PageData) {
    const m = this.view.model!;
    const must = (done: number, what: string) => {
      if (!done) throw new Error(`the model does not understand ${what}`);
    };
    this.module.start(m.roofs === "measured" ? 1 : 0);
    for (const machine of m.machines) this.give(machine.numbers), must(this.module.add_machine(), machine.name);
    this.own = m.machines.length;
    (data.catalogue ?? []).forEach((machine, i) => {
      this.give(machine.numbers), must(this.module.add_machine(), machine.name);
      this.catalogue.set(machine.id, this.own + i);
    });
    m.layers.forEach((layer, i) => {
      this.give(layer.numbers), must(this.module.add_layer(layer.machine, layer.clock ?? 0), `layer ${i}`);
    });
  }

  private index(design: Design): number { return this.catalogue.get(design.gpu) ?? -1; }
  knows(gpu: string): boolean { return this.catalogue.has(gpu); }

  evaluate(design: Design): LayerResult[] {
    this.give(FACTORS.map((f) => design[f]));
    const count = this.view.model!.layers.length;
    const n = this.numbers(this.module.evaluate(design.batch, this.index(design)), count * PER_LAYER);
    const out: LayerResult[] = [];
    for (let i = 0, at = 0; i < count; i++, at += PER_LAYER) {
      const bound = n[at + 10];
      out.push({
        refusal: REFUSALS[n[at]],
        time: n[at + 1],
        low: n[at + 2],
        high: n[at + 3],
        work: n[at + 4],
        l1: n[at + 5],
        l2: n[at + 6],
        dram: n[at + 7],
        waitsFor: TERMS[n[at + 8]],
        pipe: this.pipes[n[at + 9]],
        bound: bound < 0 ? "" :
            bound < 32   ? this.pipes[bound] :
                           LEVELS[bound - 32],
        shortest: n[at + 11],
      });
    }
    return out;
  }

  // Of the machine that the layers of chart `own` are on.
  roofs(design: Design, own: number): {theoretical: RoofValues; measured: RoofValues} {
    this.give(FACTORS.map((f) => design[f]));
    const chosen = this.index(design), size = this.pipes.length + LEVELS.length;
    const n = this.numbers(this.module.roofs(chosen < 0 ? own : chosen), 2 * size);
    const set = (from: number): RoofValues => ({
      pipes: Object.fromEntries(this.pipes.map((p, i) => [p, n[from + i]])),
      levels: Object.fromEntries(LEVELS.map((l, i) => [l, n[from + this.pipes.length + i]])),
    });
    return {theoretical: set(0), measured: set(size)};
  }

  // What a factor of 1 stands for: SMs, clock in Hz, L2 in bytes, L2 and DRAM in bytes a second.
  startValues(design: Design): Partial<Record<Factor, number>> {
    const chosen = this.index(design);
    const n = this.numbers(this.module.start_values(chosen < 0 ? 0 : chosen), 5);
    return {sms: n[0], clock: n[1], "l2.capacity": n[2], "l2.bandwidth": n[3], "dram.bandwidth": n[4]};
  }
}
