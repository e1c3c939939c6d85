// Lines of bars: elasticities of resources, the time of designs by what it waits for. The same card, keys and buttons
// as the charts of curves.
import {type BoundColors, HUES} from "./bounds";
import type {Bars, Palette} from "./data";
import {el, nameOf, svg} from "./dom";
import {type Cells, type Hover, type Spot, drawnCard, explorable, saveButtons} from "./drawn";
import {percent} from "./format";
import {CHART_WIDTH, scale, show} from "./scales";

const W = CHART_WIDTH, X0 = 128, TOP = 8, FOOT = 44;

const sum = (parts: (number|null)[]) => parts.reduce((all: number, v) => all + (v ?? 0), 0);
// An elasticity of 0.005657 is 0.0057.
const rounded = (v: number) => Number(v.toPrecision(2));
const shortened = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

export function bars(
    chart: Bars, id: string, palette: Palette, dark: boolean, colors: BoundColors, hover: Hover): HTMLElement {
  const hues = dark ? HUES.dark : HUES.light;
  const color = (i: number) => (chart.stacked ? colors.color(chart.parts[i], palette, dark) : hues[i % hues.length]);
  const thick = chart.stacked || chart.parts.length === 1 ? 18 : 9, lines = chart.stacked ? 1 : chart.parts.length;
  const each = lines * (thick + 1) + 9, height = TOP + chart.bars.length * each + FOOT, bottom = height - FOOT;
  const lengths = chart.bars.flatMap((b) => (chart.stacked ? [sum(b.parts)] : b.parts.map((v) => v ?? 0)));
  const X1 = W - Math.max(70, 10 + 6.2 * Math.max(...chart.bars.map((b) => b.text.length)));
  const x = scale([0, ...lengths], chart.x, X0, X1, 66), zero = x.at(0);
  const root = svg("svg", {
    viewBox: `0 0 ${W} ${height}`,
    role: "application",
    tabindex: 0,
    class: "drawn",
    "font-size": 11,
    fill: palette.muted,
    "aria-label":
        `${chart.title}: ${chart.x.label}. Up and down go through the lines, left and right through their parts.`
  });
  for (const t of x.ticks)
    root.append(
        svg("line", {x1: t.at, x2: t.at, y1: TOP, y2: bottom, stroke: palette.grid}),
        svg("text", {x: t.at, y: bottom + 15, "text-anchor": "middle"}, t.text));
  root.append(
      svg("text", {x: (X0 + X1) / 2, y: height - 8, "text-anchor": "middle", fill: palette.ink, "font-size": 12},
          chart.x.label));
  const spots: Spot[] = [];
  const piece = (line: number, part: number, from: number, to: number, y: number) => {
    const bar = chart.bars[line], value = bar.parts[part] ?? 0, whole = sum(bar.parts);
    const share = chart.stacked && whole > 0 ? `, ${percent(value / whole)}` : "";
    const text = `${chart.parts.length > 1 ? `${chart.parts[part]}: ` : ""}${
        show(chart.stacked ? value : rounded(value), chart.x)}${share}`;
    const width = Math.max(Math.abs(to - from), value === 0 ? 0 : 1);
    root.append(svg("rect", {
      x: Math.min(from, to).toFixed(1),
      y,
      width: width.toFixed(1),
      height: thick,
      fill: color(part),
      class: "piece"
    }));
    spots.push({
      x: (from + to) / 2,
      y: y + thick / 2,
      line,
      spoken: `${bar.label}, ${text}`,
      content: () =>
          el("div", {class: "details"}, el("p", {class: "name"}, nameOf(bar.label)), el("p", {}, text),
             bar.note !== "" && el("p", {}, nameOf(bar.note)))
    });
  };
  chart.bars.forEach((bar, line) => {
    const top = TOP + line * each + 4;
    let from = 0;
    bar.parts.forEach((v, part) => {
      if (chart.stacked && !v) return;
      const start = chart.stacked ? from : 0;
      piece(line, part, x.at(start), x.at(start + (v ?? 0)), top + (chart.stacked ? 0 : part * (thick + 1)));
      from += v ?? 0;
    });
    const middle = top + (each - 9) / 2 + 4,
          end = chart.stacked ? sum(bar.parts) : Math.max(0, ...bar.parts.map((v) => v ?? 0));
    root.append(
        svg("text", {x: X0 - 8, y: middle, "text-anchor": "end", fill: palette.ink}, shortened(bar.label, 19)),
        svg("text", {x: x.at(end) + 6, y: middle, fill: palette.ink},
            bar.text || (chart.stacked ? show(end, chart.x) : show(rounded(bar.parts[0] ?? 0), chart.x))));
  });
  root.append(svg("line", {x1: zero, x2: zero, y1: TOP, y2: bottom, stroke: palette.frame}));
  explorable(root, spots, palette, hover);
  const used = chart.parts.map((_, i) => i).filter((i) => !chart.stacked || chart.bars.some((b) => b.parts[i]));
  const legend = chart.parts.length > 1 &&
      el("ul", {class: "legend"},
         ...used.map(
             (i) =>
                 el("li", {}, el("span", {class: "swatch", style: `background:${color(i)}`, "aria-hidden": "true"}),
                    nameOf(chart.parts[i]))));
  const cells =
      (): Cells => [["line", ...chart.parts, "note"], ...chart.bars.map((b) => [b.label, ...b.parts, b.note])];
  return drawnCard(id, chart, saveButtons(id, chart, cells, root, palette), root, legend);
}
