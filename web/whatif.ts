// The models of the page's views, loaded when a view with one is first shown, and the view as the sliders have it.
import type {PageData, Row} from "./data";
import {liveView, type Live} from "./live";
import {isStart, type Design} from "./design";
import {Model} from "./model";

const WITHOUT = "This page was made by a build without a compiler for WebAssembly, so it cannot compute what another " +
    "GPU would do. gambrel predict and gambrel explore can.";

export class WhatIf {
  // Nothing at the start, where the page's own numbers stand.
  live: Live|null = null;
  fault = "";
  private models = new Map<number, Model>();  // by view
  private loading = new Set<number>();

  constructor(private data: PageData, private rows: Row[][], private loaded: () => void) {}

  model(view: number): Model|null { return this.models.get(view) ?? null; }

  compute(index: number, design: Design) {
    const view = this.data.views[index], model = this.models.get(index);
    this.live = null;
    if (!view?.model) return;
    if (!model) return this.load(index);
    if (isStart(design) || (design.gpu && !model.knows(design.gpu))) return;
    const started = performance.now();
    this.live = liveView(model, view, this.rows[index], this.data, design);
    document.documentElement.dataset.modelMs = (performance.now() - started).toFixed(2);
  }

  private load(index: number) {
    if (!this.data.module) this.fault = WITHOUT;
    if (this.fault || this.loading.has(index)) return;
    this.loading.add(index);
    Model.load(this.data, this.data.views[index])
        .then((model) => this.models.set(index, model))
        .catch((fault) => (this.fault = `This browser could not start the model: ${fault.message ?? fault}.`))
        .then(() => {
          this.loaded();
          document.documentElement.dataset.model = this.fault ? "failed" : "ready";
        });
  }
}
