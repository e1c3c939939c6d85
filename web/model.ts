// The model inside the page: a WebAssembly module of the very code that made the page (web/model/module.cpp). Numbers
// go in and come out through one area of its memory.
import type {Num, PageData, View} from "./data";
import {FACTORS, SIZES, startDesign, type Design, type Factor, type Size} from "./design";

export type MachineNumbers = {
  id: string; name: string; numbers: Num[]
};
export interface ModelInput {
  roofs: string;
  near_roof: number;  // a layer below this share of every roof waits
  machines: MachineNumbers[];
  // A row of a trace has many: how often each, and bytes that it moves beside them.
  layers: {row: number; machine: number; clock: Num; times?: number; extra?: number; numbers: Num[]}[];
  traced?: boolean;                               // times of rows are measured
  precisions?: {name: string; number: number}[];  // that the layers may be stored in
  // How to make the layers again; sizes of 0 are those that the network does not have.
  recipe?: Record<Size, number>&{
    configuration: string;
    numbers: Num[]
  };
}

const PER_LAYER = 18;
const TERMS = ["compute", "issue", "latency", "shared memory", "L1", "L2", "DRAM", "launch", "link"];
export const LEVELS = ["shared", "L1", "L2", "L3", "DRAM"];
const OFF_ROOF = ["latency", "occupancy", "SM"], PASSES = ["fwd", "dgrad", "wgrad"];
const REFUSALS = [
  "", "the GPU lacks this arithmetic", "its tensors do not fit the GPU's memory", "no SM can hold a tile of it",
  "the GPU lacks a number that the model needs", "the batch does not divide",
  "the network cannot be made for this batch, sequence and precision"
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
  nearest: string;  // roof
  shortest: number;
  name: string;
  pass: string;
  runs: number;
  tile: string;
}
// What an evaluation comes to beside time; 0: unknown.
export interface RunNumbers {
  tokens: number;
  samples: number;
  memory: number;
  capacity: number;
}
export interface RoofValues {
  pipes: Record<string, number>;
  levels: Record<string, number>;
}

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  area(count: number): number;
  start(measured: number, near: number): void;
  add_machine(): number;
  add_layer(machine: number, clock: number): number;
  set_recipe(characters: number, machine: number, clock: number): number;
  evaluate(machine: number): number;
  layers(): number;
  layer_name(layer: number): number;
  run(machine: number): number;
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
  private names: string[] = [];
  private named = "";  // the work that the names are of
  startRun: RunNumbers = {tokens: 0, samples: 0, memory: 0, capacity: 0};
  start: LayerResult[] = [];

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
    model.start = model.evaluate(startDesign());
    model.startRun = model.run(startDesign());
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
    this.module.start(m.roofs === "measured" ? 1 : 0, m.near_roof);
    for (const machine of m.machines) this.give(machine.numbers), must(this.module.add_machine(), machine.name);
    this.own = m.machines.length;
    (data.catalogue ?? []).forEach((machine, i) => {
      this.give(machine.numbers), must(this.module.add_machine(), machine.name);
      this.catalogue.set(machine.id, this.own + i);
    });
    if (m.recipe) {
      const text = [...new TextEncoder().encode(m.recipe.configuration)];
      this.give([...text, ...m.recipe.numbers]);
      must(this.module.set_recipe(text.length, m.layers[0].machine, m.layers[0].clock ?? 0), "the network");
      return;
    }
    m.layers.forEach((layer, i) => {
      this.give(layer.numbers), must(this.module.add_layer(layer.machine, layer.clock ?? 0), `layer ${i}`);
    });
  }

  private index(design: Design): number { return this.catalogue.get(design.gpu) ?? -1; }
  knows(gpu: string): boolean { return this.catalogue.has(gpu); }

  private word(code: number): string {
    return code < 0 ? "" : code < 32 ? this.pipes[code] : code < 64 ? LEVELS[code - 32] : OFF_ROOF[code - 64];
  }

  evaluate(design: Design): LayerResult[] {
    const precision = this.view.model!.precisions?.find((p) => p.name === design.precision)?.number ?? -1;
    const work = [design.times, ...SIZES.map((s) => design[s]), precision];
    this.give([...FACTORS.map((f) => design[f]), ...work]);
    const at0 = this.module.evaluate(this.index(design)), count = this.module.layers();
    const n = this.numbers(at0, count * PER_LAYER).slice();
    if (this.named !== work.join()) this.names = this.readNames(count), this.named = work.join();
    const out: LayerResult[] = [];
    for (let i = 0, at = 0; i < count; i++, at += PER_LAYER)
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
        bound: this.word(n[at + 10]),
        shortest: n[at + 11],
        pass: PASSES[n[at + 12]],
        runs: n[at + 13],
        tile: n[at + 14] > 0 ? `${n[at + 14]}x${n[at + 15]}x${n[at + 16]}` : "",
        nearest: this.word(n[at + 17]),
        name: this.names[i],
      });
    return out;
  }

  private readNames(count: number): string[] {
    const decoder = new TextDecoder(), out: string[] = [];
    for (let i = 0; i < count; i++) {
      const length = this.module.layer_name(i);
      out.push(decoder.decode(Uint8Array.from(this.numbers(this.module.area(length), length))));
    }
    return out;
  }

  // Of the last evaluation.
  run(design: Design): RunNumbers {
    const n = this.numbers(this.module.run(this.index(design)), 4);
    return {tokens: n[0], samples: n[1], memory: n[2], capacity: n[3]};
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
