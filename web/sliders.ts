// The panel that asks "what if": a slider for each resource of the GPU, the batch, and the GPUs of the catalogue.
import type {PageData, View} from "./data";
import {el, replace, say} from "./dom";
import {quantity} from "./format";
import {FACTORS, isStart, SIZES, startDesign, type Design, type Factor, type Size} from "./design";
import type {Model} from "./model";

const NAMES: Record<Factor, string> = {
  sms: "SMs",
  clock: "SM clock",
  tensor: "Tensor Core rate",
  "l2.capacity": "L2 capacity",
  "l2.bandwidth": "L2 bandwidth",
  "dram.bandwidth": "DRAM bandwidth",
};
const UNITS: Partial<Record<Factor, [string, boolean]>> = {
  clock: ["Hz", false],
  "l2.capacity": ["B", true],
  "l2.bandwidth": ["B/s", false],
  "dram.bandwidth": ["B/s", false]
};
const STEPS = 16;  // of a slider for a factor of two
const BATCHES = [1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32, 64];
const SIZE_NAMES: Record<Size, [string, number, number]> = {
  batch: ["Batch", 1, 4096],
  sequence: ["Sequence length", 16, 1 << 17],
  context: ["Cached positions", 16, 1 << 20]
};

// Powers of two, and what the page itself has.
function sizesOf(size: Size, own: number): number[] {
  const [, least, most] = SIZE_NAMES[size], out = [own];
  for (let n = least; n <= most; n *= 2)
    if (n !== own) out.push(n);
  return out.sort((a, b) => a - b);
}

function spell(input: HTMLInputElement, output: HTMLElement, text: string) {
  if (output.textContent === text) return;
  output.textContent = text;
  input.setAttribute("aria-valuetext", text);
}

interface Choice {
  box: HTMLElement;
  input: HTMLInputElement;
  text: HTMLElement;
  values: number[];
}

export class Sliders {
  readonly node = el("section", {class: "sliders card", id: "sliders", "aria-label": "What if"});
  private inputs = new Map<Factor, HTMLInputElement>();
  private outputs = new Map<Factor, HTMLElement>();
  private gpu: HTMLSelectElement;
  private precision: HTMLSelectElement;
  private precisionBox: HTMLElement;
  private sizes = new Map<Size, Choice>();
  private times: Choice;
  private reset: HTMLButtonElement;
  private body = el("div", {class: "slider-body"});
  private message = el("p", {class: "note", id: "model-state", role: "status"});
  private known: View|null = null;

  constructor(private data: PageData, private change: (design: Design) => void) {
    this.gpu = el("select", {id: "gpu", change: () => this.change({...this.design, gpu: this.gpu.value})});
    const groups: HTMLElement[] = FACTORS.map((f) => {
      const input: HTMLInputElement = el("input", {
        type: "range",
        id: `factor-${f}`,
        min: -3 * STEPS,
        max: 3 * STEPS,
        step: 1,
        value: 0,
        input: () => this.change({...this.design, [f]: 2 ** (Number(input.value) / STEPS)})
      });
      const output = el("output", {class: "value", id: `value-${f}`});
      this.inputs.set(f, input), this.outputs.set(f, output);
      return el("div", {class: "slider"}, el("label", {"for": `factor-${f}`}, NAMES[f]), input, output);
    });
    for (const size of SIZES)
      this.sizes.set(size, this.choice(size, SIZE_NAMES[size][0], (value) => {
        const own = this.own?.[size];
        this.change({...this.design, [size]: value === own ? 0 : value});
      }));
    this.times = this.choice("times", "Batch", (times) => this.change({...this.design, times}));
    this.precision =
        el("select", {id: "precision", change: () => this.change({...this.design, precision: this.precision.value})});
    this.precisionBox = el("div", {class: "slider"}, el("label", {"for": "precision"}, "Precision"), this.precision);
    this.reset = el(
        "button", {type: "button", id: "design-reset", click: () => this.change(startDesign())}, "Back to the start");
    this.body.append(
        el("div", {class: "slider"}, el("label", {"for": "gpu"}, "GPU"), this.gpu), this.precisionBox,
        ...[...this.sizes.values(), this.times].map((c) => c.box), ...groups, this.reset);
    // Folded on small screens, where it would push the chart away, unless a link leads to a design.
    this.node.append(
        el("details", {open: !matchMedia("(max-width: 600px)").matches}, el("summary", {}, el("h2", {}, "What if")),
           this.message, this.body));
  }

  private design = startDesign();
  private own: Record<Size, number>|undefined;  // the sizes at the start

  // A slider over a list of values.
  private choice(id: string, name: string, change: (value: number) => void): Choice {
    const text = el("output", {class: "value", id: `${id}-value`});
    const made: Choice = {box: el("div", {class: "slider"}), input: el("input", {}), text, values: [1]};
    made.input =
        el("input", {type: "range", id, step: 1, min: 0, input: () => change(made.values[Number(made.input.value)])});
    made.box.append(el("label", {"for": id}, name), made.input, text);
    return made;
  }

  private showChoice(c: Choice, value: number, text: string) {
    c.box.hidden = c.values.length < 2;
    c.input.max = String(c.values.length - 1);
    const at = c.values.findIndex((v) => v >= value);
    c.input.value = String(at < 0 ? c.values.length - 1 : at);
    spell(c.input, c.text, text);
  }

  show(view: View, model: Model|null, fault: string, design: Design) {
    this.node.hidden = !view.model;
    if (!view.model) return;
    this.design = design;
    this.body.hidden = !model;
    say(this.message, fault || (model ? "" : "The model is being loaded."));
    this.message.hidden = !this.message.textContent;
    if (!model) return;
    this.fillLists(view, model);
    this.gpu.value = design.gpu;
    this.precision.value = design.precision;
    const start = model.startValues(design);
    for (const f of FACTORS) {
      const input = this.inputs.get(f)!, factor = design[f];
      input.value = String(Math.round(Math.log2(factor) * STEPS));
      const amount = start[f], unit = UNITS[f];
      const value = f === "sms" ? String(Math.max(1, Math.round((amount ?? 0) * factor))) :
          unit && amount        ? quantity(amount * factor, unit[0], 3, unit[1]) :
                                  "";
      const text = `${value} ${factor === 1 ? "" : `×${Number(factor.toPrecision(3))}`}`.trim();
      spell(input, this.outputs.get(f)!, text || "×1");
    }
    for (const size of SIZES) {
      const value = design[size] || (this.own?.[size] ?? 0);
      this.showChoice(
          this.sizes.get(size)!, value, value.toLocaleString("en-US") + (design[size] ? "" : " (the start)"));
    }
    this.showChoice(this.times, design.times, design.times === 1 ? "as it is" : `×${design.times}`);
    this.markPrecisions(model, design);
    this.reset.hidden = isStart(design);
  }

  // Those that the GPU cannot compute in are there, and cannot be chosen.
  private marked: string|null = null;  // the GPU that they were marked for
  private markPrecisions(model: Model, design: Design) {
    if (this.precisionBox.hidden || this.marked === design.gpu) return;
    this.marked = design.gpu;
    for (const option of this.precision.options)
      option.disabled = option.value !== "" &&
          model.evaluate({...startDesign(), gpu: design.gpu, precision: option.value})
              .some((r) => r.refusal.includes("arithmetic"));
  }

  private fillLists(view: View, model: Model) {
    if (this.known === view) return;
    this.known = view;
    this.marked = null;
    this.own = view.model!.recipe;
    for (const size of SIZES) this.sizes.get(size)!.values = this.own?.[size] ? sizesOf(size, this.own[size]) : [];
    // Only batches that every layer can be computed for.
    const computes = (times: number) =>
        model.evaluate({...startDesign(), times}).every((r) => !r.refusal.includes("batch"));
    this.times.values = this.own || view.model!.traced ? [] : BATCHES.filter(computes);
    const precisions = view.model!.precisions ?? [];
    this.precisionBox.hidden = !precisions.length;
    replace(
        this.precision, el("option", {value: ""}, "as the network has it"),
        ...precisions.map((p) => el("option", {value: p.name}, p.name)));
    this.fillGpus(view);
  }

  private fillGpus(view: View) {
    const own = view.model!.machines.map((m) => m.name).join(", ");
    replace(
        this.gpu, el("option", {value: ""}, `${own} (the start)`),
        ...(this.data.catalogue ?? []).map((m) => el("option", {value: m.id}, m.name)));
  }
}
