// Charts of curves and points: sweeps with their levels, sensitivity, Pareto fronts. Drawn as SVG elements: they are
// small, and each mark can then be reached and read by itself.
import {HUES} from "./bounds";
import type {CurveMark, Curves, Palette} from "./data";
import {el, nameOf, svg} from "./dom";
import {type Cells, type Hover, type Spot, drawnCard, explorable, saveButtons} from "./drawn";
import {CHART_WIDTH, type Scale, scale, show, usable} from "./scales";

const W = CHART_WIDTH, H = 340, X0 = 74, Y0 = 14, X1 = W - 14, Y1 = H - 46;

interface Drawing {
  chart: Curves;
  palette: Palette;
  x: Scale;
  y: Scale;
  colors: string[];
  taken: DOMRect[]
}

const goodMarks = (d: {chart: Curves}, marks: CurveMark[]) =>
    marks.filter((m) => usable(m[0], d.chart.x) && usable(m[1], d.chart.y));

function drawAxes(root: SVGElement, {chart, palette, x, y}: Drawing) {
  for (const t of x.ticks)
    root.append(
        svg("line", {x1: t.at, x2: t.at, y1: Y0, y2: Y1, stroke: palette.grid}),
        svg("text", {x: t.at, y: Y1 + 16, "text-anchor": "middle"}, t.text));
  for (const t of y.ticks)
    root.append(
        svg("line", {x1: X0, x2: X1, y1: t.at, y2: t.at, stroke: palette.grid}),
        svg("text", {x: X0 - 6, y: t.at + 4, "text-anchor": "end"}, t.text));
  const head = {"text-anchor": "middle", fill: palette.ink, "font-size": 12}, middle = (Y0 + Y1) / 2;
  root.append(
      svg("path", {d: `M${X0} ${Y0}V${Y1}H${X1}`, fill: "none", stroke: palette.frame}),
      svg("text", {x: (X0 + X1) / 2, y: H - 8, ...head}, chart.x.label),
      svg("text", {x: 13, y: middle, transform: `rotate(-90 13 ${middle})`, ...head}, chart.y.label));
}

const halo = (palette: Palette) =>
    ({"paint-order": "stroke", stroke: palette.background, "stroke-width": 3.5, "stroke-linejoin": "round"});
const hits = (a: DOMRect, list: DOMRect[]) =>
    list.some((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom);

// At the first of the places where it covers no other label; nowhere if all are taken.
function label(root: SVGElement, d: Drawing, text: string, color: string, x: number, places: number[]) {
  const width = 7.2 * text.length, left = Math.max(X0 + 3, Math.min(X1 - width - 3, x - width / 2));
  for (const y of places) {
    const box = new DOMRect(left, y - 11, width, 14);
    if (box.top < Y0 - 4 || box.bottom > Y1 || hits(box, d.taken)) continue;
    d.taken.push(box);
    root.append(svg(
        "text", {x: left + width / 2, y, "text-anchor": "middle", fill: color, "font-weight": 600, ...halo(d.palette)},
        text));
    return;
  }
}

function drawGuides(root: SVGElement, d: Drawing) {
  const {chart, palette, x, y} = d;
  for (const l of chart.limits) {
    if (!usable(l.value, chart.x)) continue;
    const at = x.at(l.value), color = palette.level[l.color] ?? palette.ink;
    if (at < X0 || at > X1) continue;
    root.append(
        svg("line", {x1: at, x2: at, y1: Y0, y2: Y1, stroke: color, "stroke-dasharray": "2 4", class: "limit"}),
        svg("text", {
          x: at - 4,
          y: Y1 - 8,
          fill: color,
          "font-size": 10.5,
          transform: `rotate(-90 ${at - 4} ${Y1 - 8})`,
          ...halo(palette)
        },
            l.label));
    d.taken.push(new DOMRect(at - 16, Y1 - 8 - 6.2 * l.label.length, 16, 6.2 * l.label.length));
  }
  for (const g of chart.guides) {
    if (!usable(g.value, chart.y)) continue;
    const color = palette.level[g.color] ?? palette.ink, at = y.at(g.value);
    const from = usable(g.from, chart.x) ? x.at(g.from) : X0, to = usable(g.to, chart.x) ? x.at(g.to) : X1;
    root.append(svg("line", {
      x1: from,
      x2: to,
      y1: at,
      y2: at,
      stroke: color,
      "stroke-width": 3,
      "stroke-dasharray": "7 3",
      class: "guide"
    }));
    label(root, d, g.label, color, (from + to) / 2, [at - 9, at + 19, at - 24, at + 34]);
  }
}

function star(x: number, y: number, r: number): string {
  const corner = (i: number) => {
    const a = (i * Math.PI) / 5, d = i % 2 ? r * 0.45 : r;
    return `${(x + d * Math.sin(a)).toFixed(1)} ${(y - d * Math.cos(a)).toFixed(1)}`;
  };
  return `M${[...Array(10).keys()].map(corner).join("L")}Z`;
}

function drawSeries(root: SVGElement, d: Drawing, s: Curves["series"][0], color: string) {
  const {chart, x, y, palette} = d, good = goodMarks(d, s.marks);
  const at = (m: CurveMark) => `${x.at(m[0]!).toFixed(1)} ${y.at(m[1]!).toFixed(1)}`;
  if (s.line && good.length > 1)
    root.append(svg(
        "path",
        {d: good.map((m, j) => (j ? "L" : "M") + at(m)).join(""), fill: "none", stroke: color, "stroke-width": 1.8}));
  if (!s.dots) {
    const m = good[Math.floor(good.length / 2)];
    if (m && s.name)
      label(root, d, s.name, palette.ink, x.at(m[0]!), [y.at(m[1]!) - 6, y.at(m[1]!) + 15, y.at(m[1]!) - 20]);
    return;
  }
  for (const m of good) {
    const mx = x.at(m[0]!), my = y.at(m[1]!);
    if (usable(m[2], chart.y) && usable(m[3], chart.y))
      root.append(svg("path", {
        d: `M${mx} ${y.at(m[2])}V${y.at(m[3])}M${mx - 3} ${y.at(m[2])}h6M${mx - 3} ${y.at(m[3])}h6`,
        stroke: color,
        "stroke-opacity": 0.7,
        fill: "none",
        class: "spread"
      }));
    if (!m[5])
      root.append(svg("circle", {
        cx: mx.toFixed(1),
        cy: my.toFixed(1),
        r: s.line ? 3 : 4.5,
        fill: color,
        "fill-opacity": s.line ? 1 : 0.75,
        class: "dot"
      }));
    else {
      root.append(svg(
          "path", {d: star(mx, my, 10), fill: color, stroke: palette.ink, "stroke-width": 1.2, class: "dot chosen"}));
      label(root, d, m[4].split(":")[0].slice(0, 40), palette.ink, mx, [my - 15, my + 24, my - 29]);
    }
  }
}

function spotsOf({chart, x, y}: Drawing): Spot[] {
  return chart.series.flatMap((s, line) => goodMarks({chart}, s.name ? s.marks : []).map((m) => {
    const value = `${chart.y.label} ${show(m[1]!, chart.y)}`, place = `${chart.x.label} ${show(m[0]!, chart.x)}`;
    const spread = usable(m[2], chart.y) && usable(m[3], chart.y) ?
        `, 95 % interval ${show(m[2], chart.y)} to ${show(m[3], chart.y)}` :
        "";
    return {
      x: x.at(m[0]!),
      y: y.at(m[1]!),
      line,
      spoken: `${m[4] || s.name}: ${place}, ${value}${spread}`,
      content: () =>
          el("div", {class: "details"}, el("p", {class: "name"}, nameOf(m[4] || s.name)),
             el("p", {}, `${m[4] && chart.series.length > 1 ? `${s.name}; ` : ""}${place}, ${value}${spread}`)),
    };
  }));
}

export function curves(chart: Curves, id: string, palette: Palette, dark: boolean, hover: Hover): HTMLElement {
  const hues = dark ? HUES.dark : HUES.light, marks = goodMarks({chart}, chart.series.flatMap((s) => s.marks));
  const guides = chart.guides.map((g) => g.value).filter((v): v is number => usable(v, chart.y));
  // The interval of a point that was hardly measured must not squeeze the rest: ends far from the median set no axis.
  const near = (v: number|null, m: CurveMark) => usable(v, chart.y) && v > m[1]! / 10 && v < m[1]! * 10;
  const ys = marks.flatMap((m) => [m[1]!, ...[m[2], m[3]].filter((v): v is number => near(v, m))]);
  // Beside memory levels a line of reference is grey: every hue is a level's.
  const first = (name: string) => chart.series.findIndex((s) => s.name === name);
  const other = (name: string) => (chart.series.some((s) => s.color) ? palette.muted : hues[first(name) % hues.length]);
  const colors = chart.series.map((s) => palette.level[s.color] ?? other(s.name));
  const d: Drawing = {
    chart,
    palette,
    colors,
    taken: [],
    x: scale(marks.map((m) => m[0]!), chart.x, X0, X1, 62),
    y: scale([...ys, ...guides], chart.y, Y1, Y0, 26)
  };
  const root = svg("svg", {
    viewBox: `0 0 ${W} ${H}`,
    role: "application",
    tabindex: 0,
    class: "drawn",
    "font-size": 11,
    fill: palette.muted,
    "aria-label": `${chart.title}: ${chart.y.label} over ${chart.x.label}. Arrow keys go through the points.`
  });
  drawAxes(root, d);
  drawGuides(root, d);
  chart.series.forEach((s, i) => drawSeries(root, d, s, colors[i]));
  explorable(root, spotsOf(d), palette, hover);
  const listed = chart.series.map((_, i) => i).filter((i) => chart.series[i].dots);
  const legend = listed.length > 1 &&
      el("ul", {class: "legend"},
         ...listed.map(
             (i) =>
                 el("li", {}, el("span", {class: "swatch", style: `background:${colors[i]}`, "aria-hidden": "true"}),
                    nameOf(chart.series[i].name))));
  const cells = (): Cells => [
      ["series", "label", chart.x.label, chart.y.label, "low", "high"],
      ...chart.series.flatMap((s) => s.marks.map((m) => [s.name, m[4], m[0], m[1], m[2], m[3]]))];
  return drawnCard(id, chart, saveButtons(id, chart, cells, root, palette), root, legend, values(chart));
}

// The same as numbers, for those who cannot see the drawing or want to copy it.
function values(chart: Curves): HTMLElement {
  const body = el("tbody", {});
  for (const s of chart.series)
    for (const m of s.marks)
      if (m[0] !== null && m[1] !== null)
        body.append(
            el("tr", {}, el("th", {scope: "row"}, nameOf(m[4] || s.name)), el("td", {}, show(m[0], chart.x)),
               el("td", {}, show(m[1], chart.y))));
  return el(
      "details", {}, el("summary", {}, "Values"),
      el("div", {class: "wide", tabindex: 0, role: "region", "aria-label": `${chart.title}, values`},
         el("table", {class: "small"},
            el("thead", {},
               el("tr", {}, ...["", chart.x.label, chart.y.label].map((t) => el("th", {scope: "col"}, t)))),
            body)));
}
