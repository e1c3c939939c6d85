// The panel that asks "what if": a slider for each resource of the GPU, the batch, and the GPUs of the catalogue.
import type {PageData, View} from "./data";
import {el, replace} from "./dom";
import {quantity} from "./format";
import {FACTORS, isStart, startDesign, type Design, type Factor, type Model} from "./model";

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

export class Sliders {
  readonly node = el("section", {class: "sliders card", id: "sliders", "aria-label": "What if"});
  private inputs = new Map<Factor, HTMLInputElement>();
  private outputs = new Map<Factor, HTMLElement>();
  private gpu: HTMLSelectElement;
  private batch: HTMLInputElement;
  private batchText = el("output", {class: "value", id: "batch-value"});
  private batchBox: HTMLElement;
  private reset: HTMLButtonElement;
  private body = el("div", {class: "slider-body"});
  private message = el("p", {class: "note", id: "model-state", role: "status"});
  private batches: number[] = [1];
  private known = "";

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
    this.batch = el("input", {
      type: "range",
      id: "batch",
      step: 1,
      min: 0,
      input: () => this.change({...this.design, batch: this.batches[Number(this.batch.value)]})
    });
    this.batchBox = el("div", {class: "slider"}, el("label", {"for": "batch"}, "Batch"), this.batch, this.batchText);
    this.reset = el(
        "button", {type: "button", id: "design-reset", click: () => this.change(startDesign())}, "Back to the start");
    this.body.append(
        el("div", {class: "slider"}, el("label", {"for": "gpu"}, "GPU"), this.gpu), ...groups, this.batchBox,
        this.reset);
    // Folded on small screens, where it would push the chart away, unless a link leads to a design.
    this.node.append(
        el("details", {open: !matchMedia("(max-width: 600px)").matches}, el("summary", {}, el("h2", {}, "What if")),
           this.message, this.body));
  }

  private design = startDesign();

  show(view: View, model: Model|null, fault: string, design: Design) {
    this.node.hidden = !view.model;
    if (!view.model) return;
    this.design = design;
    this.body.hidden = !model;
    this.message.textContent = fault || (model ? "" : "The model is being loaded.");
    this.message.hidden = !this.message.textContent;
    if (!model) return;
    this.fillGpus(view);
    this.gpu.value = design.gpu;
    const start = model.startValues(design);
    for (const f of FACTORS) {
      const input = this.inputs.get(f)!, factor = design[f];
      input.value = String(Math.round(Math.log2(factor) * STEPS));
      const amount = start[f], unit = UNITS[f];
      const value = f === "sms" ? String(Math.max(1, Math.round((amount ?? 0) * factor))) :
          unit && amount        ? quantity(amount * factor, unit[0], 3, unit[1]) :
                                  "";
      const text = `${value} ${factor === 1 ? "" : `×${Number(factor.toPrecision(3))}`}`.trim();
      this.outputs.get(f)!.textContent = text || "×1";
      input.setAttribute("aria-valuetext", text || "as it is");
    }
    this.showBatch(view, model, design);
    this.reset.hidden = isStart(design);
  }

  // Only batches that every layer can be computed for.
  private showBatch(view: View, model: Model, design: Design) {
    if (this.known !== view.title) {
      this.known = view.title;
      const computes = (batch: number) =>
          model.evaluate({...startDesign(), batch}).every((r) => !r.refusal || !r.refusal.includes("batch"));
      this.batches = BATCHES.filter(computes);
      this.batch.max = String(this.batches.length - 1);
    }
    this.batchBox.hidden = this.batches.length < 2;
    this.batch.value = String(Math.max(0, this.batches.indexOf(design.batch)));
    this.batchText.textContent = design.batch === 1 ? "as it is" : `×${design.batch}`;
    this.batch.setAttribute("aria-valuetext", this.batchText.textContent);
  }

  private fillGpus(view: View) {
    if (this.gpu.dataset.view === view.title) return;
    this.gpu.dataset.view = view.title;
    const own = view.model!.machines.map((m) => m.name).join(", ");
    replace(
        this.gpu, el("option", {value: ""}, `${own} (the start)`),
        ...(this.data.catalogue ?? []).map((m) => el("option", {value: m.id}, m.name)));
  }
}
