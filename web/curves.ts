// Charts of curves and points: sweeps with their levels, sensitivity, Pareto fronts. Drawn as SVG elements: they are small,
// and each mark can then be reached and read by itself.
import { ticks as linearTicks } from "d3-array";
import { logTicks } from "./axes";
import type { Axis, Curves, Palette } from "./data";
import { el, nameOf } from "./dom";
import { plain, quantity } from "./format";
import { card } from "./summary";

const NS = "http://www.w3.org/2000/svg";
const W = 560, H = 320, X0 = 74, Y0 = 12, X1 = W - 14, Y1 = H - 46;
const HUES = { light: ["#0072b2", "#d55e00", "#008a63", "#b0558a", "#a87400", "#5b3fa8", "#37685f"],
  dark: ["#56b4e9", "#f5833c", "#2cc295", "#e08fbf", "#e6b23c", "#b39ddb", "#8fc7bb"] };

type Attributes = Record<string, string | number>;
function svg(tag: string, attributes: Attributes, ...children: (Node | string)[]): SVGElement {
  const node = document.createElementNS(NS, tag);
  for (const [k, v] of Object.entries(attributes)) node.setAttribute(k, String(v));
  node.append(...children);
  return node;
}

const usable = (v: number | null, axis: Axis): v is number => v !== null && isFinite(v) && (!axis.log || v > 0);
const show = (v: number, axis: Axis) => (axis.unit || axis.binary ? quantity(v, axis.unit, 3, axis.binary) : plain(v));

interface Scale { at(v: number): number; ticks: { at: number; text: string }[] }

function scale(values: number[], axis: Axis, from: number, to: number, room: number): Scale {
  const f = axis.log ? Math.log10 : (v: number) => v;
  let low = Math.min(...values.map(f)), high = Math.max(...values.map(f));
  if (!values.length) (low = 0), (high = 1);
  if (!axis.log && low > 0 && low < 0.6 * high) low = 0;
  const pad = high > low ? 0.05 * (high - low) : 0.5;
  (low = low === 0 && !axis.log ? 0 : low - pad), (high += pad);
  const at = (v: number) => from + ((f(v) - low) / (high - low)) * (to - from);
  if (axis.log && axis.binary) {
    const first = Math.ceil(low / Math.log10(2)), last = Math.floor(high / Math.log10(2));
    const step = Math.max(1, Math.ceil(((last - first) * room) / Math.abs(to - from)));
    const marks = [];
    for (let p = Math.ceil(first / step) * step; p <= last; p += step) marks.push({ at: at(2 ** p), text: show(2 ** p, axis) });
    return { at, ticks: marks };
  }
  if (axis.log) return { at, ticks: logTicks(low, high, from, to, room).filter((t) => t.label).map((t) => ({ at: t.at, text: show(t.value, axis) })) };
  return { at, ticks: linearTicks(low, high, Math.max(2, Math.abs(to - from) / room)).map((v: number) => ({ at: at(v), text: show(v, axis) })) };
}

export interface CurveEvents { hover(content: HTMLElement | null, x: number, y: number): void }

export function curves(chart: Curves, id: string, palette: Palette, dark: boolean, events: CurveEvents): HTMLElement {
  const hues = dark ? HUES.dark : HUES.light;
  const marks = chart.series.flatMap((s) => s.marks).filter((m) => usable(m[0], chart.x) && usable(m[1], chart.y));
  const guides = chart.guides.filter((g) => usable(g.value, chart.y));
  const x = scale(marks.map((m) => m[0]!), chart.x, X0, X1, 62);
  const y = scale([...marks.flatMap((m) => [m[1]!, m[2] ?? m[1]!, m[3] ?? m[1]!].filter((v) => usable(v, chart.y))), ...guides.map((g) => g.value!)], chart.y, Y1, Y0, 26);
  const root = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "group", "aria-label": `${chart.title}: ${chart.y.label} over ${chart.x.label}`, "font-size": 11, fill: palette.muted });
  for (const t of x.ticks) root.append(svg("line", { x1: t.at, x2: t.at, y1: Y0, y2: Y1, stroke: palette.grid }), svg("text", { x: t.at, y: Y1 + 16, "text-anchor": "middle" }, t.text));
  for (const t of y.ticks) root.append(svg("line", { x1: X0, x2: X1, y1: t.at, y2: t.at, stroke: palette.grid }), svg("text", { x: X0 - 6, y: t.at + 4, "text-anchor": "end" }, t.text));
  root.append(svg("path", { d: `M${X0} ${Y0}V${Y1}H${X1}`, fill: "none", stroke: palette.frame }),
    svg("text", { x: (X0 + X1) / 2, y: H - 8, "text-anchor": "middle", fill: palette.ink, "font-size": 12 }, chart.x.label),
    svg("text", { x: 13, y: (Y0 + Y1) / 2, "text-anchor": "middle", fill: palette.ink, "font-size": 12, transform: `rotate(-90 13 ${(Y0 + Y1) / 2})` }, chart.y.label));
  for (const g of guides) {
    const color = g.level ? palette.level[g.level] : palette.ink, from = usable(g.from, chart.x) ? x.at(g.from) : X0, to = usable(g.to, chart.x) ? x.at(g.to) : X1;
    root.append(svg("line", { x1: from, x2: to, y1: y.at(g.value!), y2: y.at(g.value!), stroke: color, "stroke-width": 2, "stroke-dasharray": "6 3", class: "guide" }),
      svg("text", { x: (from + to) / 2, y: y.at(g.value!) - 5, "text-anchor": "middle", fill: color, "font-weight": 600, "paint-order": "stroke", stroke: palette.background, "stroke-width": 3 }, g.label));
  }
  chart.series.forEach((s, i) => root.append(...series(s, i, s.level ? palette.level[s.level] : hues[i % hues.length])));
  function series(s: Curves["series"][0], _: number, color: string): SVGElement[] {
    const good = s.marks.filter((m) => usable(m[0], chart.x) && usable(m[1], chart.y));
    const out: SVGElement[] = [];
    if (s.line && good.length > 1) out.push(svg("path", { d: good.map((m, j) => `${j ? "L" : "M"}${x.at(m[0]!).toFixed(1)} ${y.at(m[1]!).toFixed(1)}`).join(""), fill: "none", stroke: color, "stroke-width": 1.8 }));
    for (const m of good) {
      if (usable(m[2], chart.y) && usable(m[3], chart.y)) out.push(svg("line", { x1: x.at(m[0]!), x2: x.at(m[0]!), y1: y.at(m[2]), y2: y.at(m[3]), stroke: color, "stroke-opacity": 0.5 }));
      const dot = svg("circle", { cx: x.at(m[0]!).toFixed(1), cy: y.at(m[1]!).toFixed(1), r: s.line ? 3 : 3.5, fill: color, "fill-opacity": s.line ? 1 : 0.65, class: "dot" });
      dot.addEventListener("mousemove", (e) => events.hover(el("div", { class: "details" }, el("p", { class: "name" }, nameOf(m[4] || s.name)),
        el("p", {}, `${m[4] ? `${s.name}; ` : ""}${chart.x.label} ${show(m[0]!, chart.x)}, ${chart.y.label} ${show(m[1]!, chart.y)}`)), (e as MouseEvent).clientX, (e as MouseEvent).clientY));
      dot.addEventListener("mouseleave", () => events.hover(null, 0, 0));
      out.push(dot);
    }
    return out;
  }
  const legend = chart.series.length > 1 && el("ul", { class: "legend" }, ...chart.series.map((s, i) => el("li", {},
    el("span", { class: "swatch", style: `background:${s.level ? palette.level[s.level] : hues[i % hues.length]}`, "aria-hidden": "true" }), nameOf(s.name))));
  return card(id, chart.title, root as unknown as Node, legend, chart.note && el("p", {}, chart.note), values(chart));
}

// The same as numbers, for those who cannot see the drawing or want to copy it.
function values(chart: Curves): HTMLElement {
  const body = el("tbody", {});
  for (const s of chart.series)
    for (const m of s.marks)
      if (m[0] !== null && m[1] !== null) body.append(el("tr", {}, el("th", { scope: "row" }, nameOf(m[4] || s.name)), el("td", {}, show(m[0], chart.x)), el("td", {}, show(m[1], chart.y))));
  return el("details", {}, el("summary", {}, "Values"), el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `${chart.title}, values` }, el("table", { class: "small" },
    el("thead", {}, el("tr", {}, ...["", chart.x.label, chart.y.label].map((t) => el("th", { scope: "col" }, t)))), body)));
}
