// The timeline of a trace on the screen: zoom, pan, hover, click and keys. Two canvases, as in the Roofline: the lower
// is drawn when something changes, the upper has what is under the pointer or the keys.
import {event as zoomEvent, select} from "d3-selection";
import {zoom as zoomBehaviour, zoomIdentity} from "d3-zoom";
import type {BoundColors} from "./bounds";
import {fitted, whenResized} from "./canvas";
import type {PageData, Palette, Row, View} from "./data";
import {announce, el, replace} from "./dom";
import {percent, plural} from "./format";
import {card} from "./summary";
import {CanvasSurface} from "./surface";
import {aboutBox, saveTimeline} from "./timeline_details";
import {boxAt, decodeTimeline, paintOf, sumsOf} from "./timeline_data";
import type {Box, ColorBy, Paint, Timeline, TimelineColumns} from "./timeline_data";
import {AXIS, drawTimeline, heightOf, laneHeight, place, timeAt, timeText, type TimelineScene} from "./timeline_draw";

export interface TimelineEvents {
  hover(content: HTMLElement|null, x: number, y: number, row: Row|null): void;
  pick(row: Row|null, add: boolean): void;
}
interface Shown {
  view: View;
  rows: Row[];
  selected: Set<number>;
  passing: Set<number>|null;  // rows that the filters let through
  palette: Palette;
  dark: boolean;
}

const REACH = 3;        // pixels that a pointer may miss a box by
const SHORTEST = 0.02;  // nanoseconds for a pixel at the deepest zoom

export class TimelineChart {
  private node: HTMLElement;
  private title: HTMLElement;
  private lower = el("canvas", {"aria-hidden": "true"});
  private upper = el("canvas", {"aria-hidden": "true", class: "over"});
  private box = el("div", {
    class: "timeline",
    tabindex: 0,
    role: "application",
    id: "timeline-chart",
    "aria-describedby": "timeline-keys",
    "aria-label": "Timeline",
  });
  private legend = el("ul", {class: "legend", id: "timeline-legend"});
  private note = el("p", {class: "note", id: "timeline-merged"});
  private by = el("select", {id: "timeline-color"});
  private timelines = new Map<TimelineColumns, Timeline>();
  private now: Shown|null = null;
  private scene: TimelineScene|null = null;
  private window: [number, number]|null = null;  // what is in sight; null: all
  private cursor: Box|null = null;
  private zoom: any;
  private pending = 0;

  constructor(private data: PageData, private colors: BoundColors, before: Element, private events: TimelineEvents) {
    const button = (id: string, text: string, label: string, click: () => void, name = "small-save") =>
        el("button", {type: "button", id, class: name, "aria-label": label, title: label, click}, text);
    for (const by of ["bottleneck", "class", "pipe"]) this.by.append(el("option", {value: by}, by));
    this.by.addEventListener("change", () => this.refresh());
    this.box.append(this.lower, this.upper);
    const tools =
        el("div", {class: "timeline-tools"},
           el("label",
              {for: "timeline-color"
              },
              "Colour by"),
           this.by,
           el("span", {class: "group", role: "group", "aria-label": "Zoom of the timeline"},
              button("timeline-in", "+", "Zoom in on the timeline", () => this.scale(2), ""),
              button("timeline-out", "−", "Zoom out of the timeline", () => this.scale(0.5), ""),
              button("timeline-home", "⌂", "The whole timeline", () => this.look(null), "")));
    const keys =
        el("p", {class: "spoken", id: "timeline-keys"},
           "Left and right go from event to event, up and down to another stream, Enter isolates the kernel in chart " +
               "and table, plus and minus zoom, 0 shows all.");
    this.node = card("timeline", "Timeline", tools, this.box, this.legend, this.note, keys);
    this.title = this.node.querySelector("h2")!;
    this.node.prepend(el(
        "div", {class: "card-saves"}, button("timeline-svg", "SVG", "Save the timeline as SVG", () => this.save("svg")),
        button("timeline-csv", "CSV", "Save the timeline as CSV", () => this.save("csv"))));
    before.after(this.node);
    this.listen();
  }

  show(view: View, rows: Row[], shown: Row[], selected: Set<number>, palette: Palette, dark: boolean) {
    if (view.timeline !== this.now?.view.timeline) (this.window = null), (this.cursor = null);
    const passing = shown.length < rows.length ? new Set(shown.map((r) => r.index)) : null;
    this.now = {view, rows, selected, passing, palette, dark};
    this.node.hidden = !view.timeline;
    if (view.timeline) this.refresh();
  }

  private listen() {
    // Touch and mouse are d3's; a wheel that cannot zoom out any more scrolls the page.
    this.zoom = zoomBehaviour().clickDistance(4).on("zoom", () => this.zoomed());
    select(this.upper).call(this.zoom).on("dblclick.zoom", null);
    this.upper.style.touchAction = "pan-y";
    this.upper.addEventListener("dblclick", () => this.look(null));
    this.upper.addEventListener("mousemove", (e) => !e.buttons && this.point(this.boxUnder(e), e.clientX, e.clientY));
    this.upper.addEventListener("mouseleave", () => this.point(null, 0, 0));
    this.upper.addEventListener("click", (e) => {
      this.box.focus({preventScroll: true});
      this.events.pick(this.rowOf(this.boxUnder(e)), e.shiftKey || e.ctrlKey || e.metaKey);
    });
    this.box.addEventListener("keydown", (e) => this.key(e));
    this.box.addEventListener("blur", () => this.point(null, 0, 0));
    whenResized(this.box, () => this.draw());
  }

  private timeline(): Timeline {
    const columns = this.now!.view.timeline!;
    let t = this.timelines.get(columns);
    if (!t) this.timelines.set(columns, (t = decodeTimeline(columns)));
    return t;
  }
  private paints(t: Timeline): Paint[] {
    const {palette, dark} = this.now!, by = this.by.value as ColorBy;
    return t.columns.groups.map((g) => paintOf(g, by, this.data, this.colors, palette, dark));
  }

  private refresh() {
    const t = this.timeline(), paints = this.paints(t);
    const streams = t.columns.lanes.reduce((sum, [, n]) => sum + n, 0);
    this.title.textContent =
        `Timeline: ${plural(t.events, "event")} on ${plural(streams, "stream")}, ${timeText(t.columns.wall)}`;
    const sums = sumsOf(t, paints);
    replace(
        this.legend,
        ...sums.map(
            ({paint, ns, events}) =>
                el("li", {"data-key": paint.key, "data-ns": ns, "data-events": events},
                   el("span", {class: "swatch", style: `background:${paint.color}`, "aria-hidden": "true"}),
                   `${paint.title} ${timeText(ns)} (${percent(ns / t.busy)})`)),
        el("li", {"data-ns": t.busy, class: "whole"}, `together ${timeText(t.busy)} of GPU time`));
    this.note.textContent = t.columns.merged;
    this.note.hidden = !t.columns.merged;
    this.box.setAttribute("aria-label", `${this.title.textContent}. ${t.columns.merged}`);
    this.box.style.height = `${heightOf(t.lanes.length)}px`;
    this.draw(paints);
  }

  private draw(paints?: Paint[]) {
    const width = this.box.clientWidth;
    if (!this.now?.view.timeline || width < 50) return;
    const t = this.timeline(), height = heightOf(t.lanes.length);
    fitted(this.upper, width, height);
    const g = new CanvasSurface(fitted(this.lower, width, height));
    const widest = Math.max(...t.columns.lanes.map(([name]) => g.width(name, 11)));
    const [from, to] = this.window ?? [0, Math.max(1, t.columns.wall)];
    this.scene = {
      timeline: t,
      paints: paints ?? this.scene?.paints ?? this.paints(t),
      from,
      to,
      width,
      gutter: Math.ceil(Math.min(widest + 12, 0.28 * width)),
      colors: this.now.palette,
      selected: this.now.selected,
      shown: this.now.passing,
    };
    const started = performance.now();
    drawTimeline(g, this.scene);
    document.documentElement.dataset.timelineMs = (performance.now() - started).toFixed(1);
    this.syncZoom();
    this.drawUpper();
  }

  private drawUpper() {
    const s = this.scene, c = this.upper.getContext("2d")!;
    if (!s) return;
    c.clearRect(0, 0, s.width, heightOf(s.timeline.lanes.length));
    if (!this.cursor) return;
    const {x, y, w, h} = place(s, this.cursor);
    c.strokeStyle = s.colors.ink;
    c.lineWidth = 2;
    c.strokeRect(x - 1, y - 1, w + 2, h + 2);
  }

  // d3 keeps a transform of its own; the window is the truth, so that keys, buttons and gestures agree.
  private syncZoom() {
    const s = this.scene!, plot = s.width - s.gutter, whole = Math.max(1, s.timeline.columns.wall);
    const k = whole / (s.to - s.from);
    this.zoom.scaleExtent([1, this.deepest()]).extent([[s.gutter, 0], [s.width, 1]]).translateExtent([
      [s.gutter, 0], [s.width, 1]
    ]);
    const left = s.gutter - k * (s.gutter + (s.from / whole) * plot);
    (this.upper as any).__zoom = zoomIdentity.translate(left, 0).scale(k);
  }
  private deepest(): number {
    const s = this.scene!;
    return Math.max(1, s.timeline.columns.wall / ((s.width - s.gutter) * SHORTEST));
  }

  private zoomed() {
    if (!this.scene || !zoomEvent?.sourceEvent) return;
    const s = this.scene, t = zoomEvent.transform, whole = Math.max(1, s.timeline.columns.wall);
    const from = (((s.gutter - t.x) / t.k - s.gutter) / (s.width - s.gutter)) * whole;
    this.window = t.k <= 1 ? null : [from, from + whole / t.k];
    this.point(null, 0, 0);
    if (!this.pending)
      this.pending = requestAnimationFrame(() => {
        this.pending = 0;
        this.draw();
      });
  }

  private look(window: [number, number]|null) {
    this.window = window;
    this.draw();
  }

  private scale(by: number) {
    if (!this.scene) return;
    const s = this.scene, whole = Math.max(1, s.timeline.columns.wall);
    const length = Math.max((s.to - s.from) / by, whole / this.deepest());
    const centre = this.cursor ? (this.cursor.start + this.cursor.end) / 2 : (s.from + s.to) / 2;
    this.look(length >= whole ? null : this.within(centre - length / 2, length));
  }
  private within(from: number, length: number): [number, number] {
    const start = Math.max(0, Math.min(from, this.scene!.timeline.columns.wall - length));
    return [start, start + length];
  }

  private boxUnder(e: MouseEvent): Box|null {
    const s = this.scene;
    if (!s) return null;
    const bounds = this.upper.getBoundingClientRect(), x = e.clientX - bounds.left, y = e.clientY - bounds.top;
    const lane = laneHeight(s.timeline.lanes.length), at = Math.floor((y - AXIS) / lane);
    if (x < s.gutter || y < AXIS || at >= s.timeline.lanes.length) return null;
    const height = 1 - (y - AXIS - at * lane) / lane;
    return boxAt(s.timeline.lanes[at], timeAt(s, x), height, (REACH * (s.to - s.from)) / (s.width - s.gutter));
  }

  private point(box: Box|null, x: number, y: number) {
    this.upper.style.cursor = box ? "pointer" : "grab";
    if (box !== this.cursor) (this.cursor = box), this.drawUpper();
    this.events.hover(box && this.about(box).node, x, y, this.rowOf(box));
  }

  private rowOf(b: Box|null): Row|null { return b && b.row !== null ? this.now!.rows[b.row] ?? null : null; }
  private about(b: Box) { return aboutBox(b, this.timeline(), this.scene!.paints[b.group], this.rowOf(b)); }

  // To a box, by keys: it comes into sight, and is read out.
  private goTo(b: Box|undefined) {
    if (!b || !this.scene) return;
    const s = this.scene, length = s.to - s.from;
    if (b.start < s.from || b.end > s.to) this.window = this.within((b.start + b.end - length) / 2, length);
    this.draw();
    const at = place(this.scene!, b), bounds = this.upper.getBoundingClientRect();
    this.point(b, bounds.left + at.x, bounds.top + at.y + at.h);
    announce(this.about(b).spoken);
  }

  private step(by: number) {
    const t = this.scene!.timeline;
    if (!this.cursor) return this.goTo(t.boxes.find((b) => b.end >= this.scene!.from));
    const lane = t.lanes[this.cursor.lane];
    this.goTo(lane[lane.indexOf(this.cursor) + by]);
  }
  private toLane(by: number) {
    const t = this.scene!.timeline, here = this.cursor;
    if (!here) return this.step(0);
    const lane = t.lanes[here.lane + by] ?? [], far = (b: Box) => Math.abs(b.start - here.start);
    this.goTo(lane.reduce<Box|undefined>((best, b) => (!best || far(b) < far(best) ? b : best), undefined));
  }

  private key(e: KeyboardEvent) {
    if (e.ctrlKey || e.metaKey || e.altKey || !this.scene) return;
    const {lanes} = this.scene.timeline, lane = lanes[this.cursor?.lane ?? 0];
    const choose = () => this.cursor && this.events.pick(this.rowOf(this.cursor), e.shiftKey);
    const actions: Record<string, () => void> = {
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      ArrowUp: () => this.toLane(-1),
      ArrowDown: () => this.toLane(1),
      Home: () => this.goTo(lane[0]),
      End: () => this.goTo(lane[lane.length - 1]),
      Enter: choose,
      " ": choose,
      "+": () => this.scale(2),
      "=": () => this.scale(2),
      "-": () => this.scale(0.5),
      "0": () => this.look(null),
    };
    if (!actions[e.key]) return;
    e.preventDefault();
    actions[e.key]();
  }

  private save(kind: "svg"|"csv") {
    if (this.scene) saveTimeline(kind, this.scene, `${this.now!.view.title} timeline`);
  }
}
