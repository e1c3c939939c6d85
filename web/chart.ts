// The Roofline on the screen: pan, zoom, hover, click and keys. Two canvases: the lower is drawn when something
// changes, the upper carries only what is under the pointer, so that hovering over ten thousand kernels costs nothing.
import {quadtree} from "d3-quadtree";
import {event as zoomEvent, select} from "d3-selection";
import {zoom as zoomBehaviour, zoomIdentity} from "d3-zoom";
import {fitted, whenResized} from "./canvas";
import type {Row} from "./data";
import {announce, el} from "./dom";
import {drawEmphasised, drawRoofline, frameOf, px, py, shownPoints, type Scene} from "./roofline";
import type {Box} from "./state";
import {CanvasSurface} from "./surface";

export type SceneBase = Omit<Scene, "width"|"height"|"plot"|"box">;
interface Target {
  x: number;
  y: number;
  row: Row
}
export interface ChartEvents {
  hovered(row: Row|null, x: number, y: number): void;
  picked(row: Row|null, add: boolean): void;
  moved(box: Box|null): void;
}

const NEAR = 14;
const STEP = 0.12;  // of the axis, for an arrow key

export class RooflineChart {
  readonly node: HTMLElement;
  private lower = el("canvas", {"aria-hidden": "true"});
  private upper = el("canvas", {"aria-hidden": "true", class: "upper"});
  private base: SceneBase|null = null;
  private scene: Scene|null = null;
  private home: Box = {x0: 0, x1: 1, y0: 0, y1: 1};
  private box: Box|null = null;
  private tree: any = null;
  private hover: Row|null = null;
  private pending = 0;
  private zoom: any;

  constructor(private events: ChartEvents) {
    this.node =
        el("div", {
          class: "roofline",
          tabindex: 0,
          role: "application",
          id: "chart",
          "aria-describedby": "chart-keys",
          "aria-label": "Roofline chart",
        },
           this.lower, this.upper);
    this.zoom = zoomBehaviour().scaleExtent([0.3, 400]).clickDistance(4).on("zoom", () => this.zoomed());
    // Touch and mouse gestures are d3's; a double click would zoom and spoil "click to isolate".
    select(this.upper).call(this.zoom).on("dblclick.zoom", null);
    this.upper.addEventListener("dblclick", () => this.reset());
    this.upper.addEventListener("mousemove", (e) => this.point(e));
    this.upper.addEventListener("mouseleave", () => this.setHover(null, 0, 0));
    this.upper.addEventListener("click", (e) => {
      this.node.focus({preventScroll: true});
      this.events.picked(this.rowAt(e), e.shiftKey || e.ctrlKey || e.metaKey);
    });
    this.node.addEventListener("keydown", (e) => this.key(e));
    whenResized(this.node, () => this.draw());
  }

  update(base: SceneBase, home: Box, box: Box|null) {
    this.base = base;
    this.home = home;
    this.box = box;
    this.node.setAttribute("aria-label", `Roofline chart, ${base.chart.subtitle}, ${base.rows.length} kernels shown`);
    this.hover = null;
    this.draw();
  }

  currentScene(): Scene|null { return this.scene; }

  // Shown beside the point as if it were under the pointer: what the table asks for.
  emphasise(row: Row|null) {
    this.hover = row;
    this.drawUpper();
  }

  reset() {
    this.events.moved(null);
    announce("View reset");
  }

  scale(by: number) {
    const b = this.box ?? this.home, cx = (b.x0 + b.x1) / 2, cy = (b.y0 + b.y1) / 2;
    const k = (this.home.x1 - this.home.x0) / ((b.x1 - b.x0) / by);
    if (k < 0.3 || k > 400) return;
    const w = (b.x1 - b.x0) / by / 2, h = (b.y1 - b.y0) / by / 2;
    this.events.moved({x0: cx - w, x1: cx + w, y0: cy - h, y1: cy + h});
  }

  private shift(dx: number, dy: number) {
    const b = this.box ?? this.home, w = (b.x1 - b.x0) * dx, h = (b.y1 - b.y0) * dy;
    this.events.moved({x0: b.x0 + w, x1: b.x1 + w, y0: b.y0 + h, y1: b.y1 + h});
  }

  private draw() {
    const width = this.node.clientWidth, height = this.node.clientHeight;
    if (!this.base || width < 50 || height < 50) return;
    fitted(this.upper, width, height);
    this.scene = {...this.base, width, height, plot: frameOf(width, height), box: this.box ?? this.home};
    drawRoofline(new CanvasSurface(fitted(this.lower, width, height)), this.scene);
    this.tree = null;
    this.syncZoom();
    this.drawUpper();
  }

  private drawUpper() {
    if (!this.scene) return;
    const c = this.upper.getContext("2d")!;
    c.clearRect(0, 0, this.scene.width, this.scene.height);
    if (this.hover) drawEmphasised(new CanvasSurface(c), this.scene, this.hover, true);
  }

  // d3 keeps its own transform; it is set from the box, which is the truth, so that hash, keys and gestures agree.
  private syncZoom() {
    const s = this.scene!, w = s.plot.x1 - s.plot.x0, h = s.plot.y1 - s.plot.y0;
    const k = (this.home.x1 - this.home.x0) / (s.box.x1 - s.box.x0);
    const tx = s.plot.x0 - k * (s.plot.x0 + ((s.box.x0 - this.home.x0) / (this.home.x1 - this.home.x0)) * w);
    const ty = s.plot.y1 - k * (s.plot.y1 - ((s.box.y0 - this.home.y0) / (this.home.y1 - this.home.y0)) * h);
    (this.upper as any).__zoom = zoomIdentity.translate(tx, ty).scale(k);
  }

  private zoomed() {
    if (!this.scene || !zoomEvent?.sourceEvent) return;
    const t = zoomEvent.transform, s = this.scene, {plot} = s, w = plot.x1 - plot.x0, h = plot.y1 - plot.y0;
    const xs = this.home.x1 - this.home.x0, ys = this.home.y1 - this.home.y0;
    const x0 = this.home.x0 + ((plot.x0 - t.x) / t.k - plot.x0) / w * xs;
    const y0 = this.home.y0 + (plot.y1 - (plot.y1 - t.y) / t.k) / h * ys;
    this.box = {x0, x1: x0 + xs / t.k, y0, y1: y0 + ys / t.k};
    this.setHover(null, 0, 0);
    if (this.pending) return;
    // One redraw for each frame, however many wheel events come.
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.events.moved(this.box);
    });
  }

  private rowAt(e: MouseEvent): Row|null {
    if (!this.scene) return null;
    if (!this.tree) {
      const targets: Target[] = [];
      for (const row of this.scene.rows)
        for (const p of shownPoints(this.scene, row))
          targets.push({x: px(this.scene, p.x), y: py(this.scene, p.y), row});
      this.tree = quadtree().x((t: Target) => t.x).y((t: Target) => t.y).addAll(targets);
    }
    const bounds = this.upper.getBoundingClientRect();
    const x = e.clientX - bounds.left, y = e.clientY - bounds.top, {plot} = this.scene;
    if (x < plot.x0 || x > plot.x1 || y < plot.y0 || y > plot.y1) return null;
    return this.tree.find(x, y, NEAR)?.row ?? null;
  }

  private point(e: MouseEvent) {
    if (e.buttons) return;
    this.setHover(this.rowAt(e), e.clientX, e.clientY);
  }

  private setHover(row: Row|null, x: number, y: number) {
    this.upper.style.cursor = row ? "pointer" : "grab";
    if (row !== this.hover) {
      this.hover = row;
      this.drawUpper();
    }
    this.events.hovered(row, x, y);
  }

  // Next and previous go by falling time over what is shown; that is the order in which one reads a Roofline.
  private walk(by: number) {
    if (!this.scene) return;
    const order =
        this.scene.rows.filter((r) => shownPoints(this.scene!, r).length).sort((a, b) => (b.time ?? 0) - (a.time ?? 0));
    if (!order.length) return;
    const at = order.findIndex((r) => this.scene!.selected.has(r.index));
    const next = at < 0 ? (by > 0 ? 0 : order.length - 1) : (at + by + order.length) % order.length;
    this.events.picked(order[next], false);
  }

  private key(e: KeyboardEvent) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => this.shift(-STEP, 0),
      ArrowRight: () => this.shift(STEP, 0),
      ArrowUp: () => this.shift(0, STEP),
      ArrowDown: () => this.shift(0, -STEP),
      "+": () => this.scale(1.3),
      "=": () => this.scale(1.3),
      "-": () => this.scale(1 / 1.3),
      "0": () => this.reset(),
      n: () => this.walk(1),
      p: () => this.walk(-1),
      Escape: () => this.events.picked(null, false),
    };
    const action = actions[e.key];
    if (!action) return;
    e.preventDefault();
    action();
  }
}
