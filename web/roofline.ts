// The Roofline as a drawing: axes, roofs, marks, joins, arrows, names. Knows pixels and decades, no browser and no
// gesture.
import {logTicks, type Frame} from "./axes";
import type {Chart, Palette, Point, Roof, Row} from "./data";
import {plain, quantity} from "./format";
import {Grid, type PlacedBox} from "./grid";
import {drawMark, radius} from "./marks";
import {drawNames} from "./names";
import type {Box, Roofs} from "./state";
import type {Stamp, Surface} from "./surface";

export interface Scene {
  width: number;
  height: number;
  plot: Frame;
  box: Box;
  chart: Chart;
  rows: Row[];
  hiddenLevels: Set<string>;
  roofs: Roofs;
  before: Roof[];
  sized: boolean;
  longest: number;
  selected: Set<number>;
  colors: Palette;
  labels: number;
  beside?: boolean;  // the same kernels by several origins, each with marks of its own
  bare?: boolean;    // no titles of the axes: there is no room
}

export const px = (s: Scene, x: number) =>
    s.plot.x0 + ((x - s.box.x0) / (s.box.x1 - s.box.x0)) * (s.plot.x1 - s.plot.x0);
export const py = (s: Scene, y: number) =>
    s.plot.y1 - ((y - s.box.y0) / (s.box.y1 - s.box.y0)) * (s.plot.y1 - s.plot.y0);
export const inPlot = (s: Scene, x: number, y: number, by = 0) =>
    x >= s.plot.x0 - by && x <= s.plot.x1 + by && y >= s.plot.y0 - by && y <= s.plot.y1 + by;
export const shownPoints = (s: Scene, row: Row) => row.points.filter((p) => !s.hiddenLevels.has(p.level));

export const size = (s: Scene, row: Row) => radius(row.time, s.longest, s.sized, s.rows.length);

export function frameOf(width: number, height: number): Frame {
  return {x0: 98, y0: 14, x1: Math.max(200, width - 16), y1: Math.max(120, height - 50)};
}

function drawAxes(g: Surface, s: Scene) {
  const {plot, colors} = s;
  const xs = logTicks(s.box.x0, s.box.x1, plot.x0, plot.x1, 46);
  const ys = logTicks(s.box.y0, s.box.y1, plot.y1, plot.y0, 22);
  for (const major of [false, true]) {
    const stroke = {color: major ? colors.grid : colors.minor, width: 1};
    for (const t of xs)
      if (t.major === major) g.line(t.at, plot.y0, t.at, plot.y1, stroke);
    for (const t of ys)
      if (t.major === major) g.line(plot.x0, t.at, plot.x1, t.at, stroke);
  }
  const text = {color: colors.muted, size: 11};
  for (const t of xs)
    if (t.label) g.text(t.at, plot.y1 + 17, plain(t.value), {...text, anchor: "middle"});
  for (const t of ys)
    if (t.label) g.text(plot.x0 - 7, t.at + 4, quantity(t.value, "FLOP/s"), {...text, anchor: "end"});
  g.path([[plot.x0, plot.y0], [plot.x0, plot.y1], [plot.x1, plot.y1]], false, {color: colors.frame, width: 1}, null);
  if (s.bare) return;
  const head = {color: colors.ink, size: 12, anchor: "middle" as const};
  g.text((plot.x0 + plot.x1) / 2, plot.y1 + 38, "Arithmetic intensity [FLOP/byte]", head);
  g.text(14, (plot.y0 + plot.y1) / 2, "Performance [FLOP/s]", {...head, angle: -90});
}

export function shownRoofs(s: Scene): Roof[] {
  return s.chart.roofs.filter(
      (r) => s.roofs !== "none" && (s.roofs === "both" || (s.roofs === "measured") === r.measured) &&
          !(r.kind === "slope" && s.hiddenLevels.has(r.what)));
}

// The part of a roof inside the box, in decades: a slope up to the highest flat roof, a flat from the steepest slope
// on.
function roofLine(r: Roof, roofs: Roof[], b: Box): [number, number, number, number]|null {
  const log = Math.log10(r.value);
  const flats = roofs.filter((o) => o.kind === "flat").map((o) => Math.log10(o.value));
  const slopes = roofs.filter((o) => o.kind === "slope").map((o) => Math.log10(o.value));
  if (r.kind === "slope") {
    const top = flats.length ? Math.max(...flats) : b.y1;
    const from = Math.max(b.x0, b.y0 - log), to = Math.min(b.x1, b.y1 - log, top - log);
    return from < to ? [from, from + log, to, to + log] : null;
  }
  const from = Math.max(b.x0, slopes.length ? log - Math.max(...slopes) : b.x0);
  return log >= b.y0 && log <= b.y1 && from < b.x1 ? [from, log, b.x1, log] : null;
}

// In a comparison of two machines: where the roofs were.
function drawRoofsBefore(g: Surface, s: Scene) {
  if (s.roofs === "none") return;
  for (const r of s.before) {
    const l = r.kind === "slope" && s.hiddenLevels.has(r.what) ? null : roofLine(r, s.before, s.box);
    const color = r.kind === "slope" ? s.colors.level[r.what] : s.colors.ink;
    if (l) g.line(px(s, l[0]), py(s, l[1]), px(s, l[2]), py(s, l[3]), {color, width: 1.2, dash: [1.5, 4], alpha: 0.9});
  }
}

function drawRoofs(g: Surface, s: Scene, taken: Grid, marks: Grid) {
  const roofs = shownRoofs(s);
  const color = (r: Roof) => (r.kind === "slope" ? s.colors.level[r.what] : s.colors.ink);
  const lines = roofs.map((r) => roofLine(r, roofs, s.box));
  roofs.forEach((r, i) => {
    const l = lines[i];
    if (!l) return;
    const stroke =
        {color: color(r), width: r.other ? 1.1 : 1.8, dash: r.measured ? [] : [8, 4], alpha: r.other ? 0.8 : 1};
    g.line(px(s, l[0]), py(s, l[1]), px(s, l[2]), py(s, l[3]), stroke);
  });
  drawRoofsBefore(g, s);
  // Ridge points: from here on it is arithmetic that binds.
  const judged = roofs.filter((r) => !r.other);
  for (const slope of judged.filter((r) => r.kind === "slope"))
    for (const flat of judged.filter((r) => r.kind === "flat")) {
      const x = px(s, Math.log10(flat.value / slope.value)), y = py(s, Math.log10(flat.value));
      if (inPlot(s, x, y)) g.circle(x, y, 2.2, s.colors.background, {color: s.colors.muted, width: 1});
    }
  roofs.forEach((r, i) => {
    const l = lines[i];
    if (!l) return;
    const x0 = px(s, l[0]), y0 = py(s, l[1]), x1 = px(s, l[2]), y1 = py(s, l[3]);
    const length = Math.hypot(x1 - x0, y1 - y0), ux = (x1 - x0) / length, uy = (y1 - y0) / length;
    const width = g.width(r.label, 11, "500");
    for (let d = 10; d + width + 6 < length; d += 16) {
      const along = r.kind === "flat" ? length - width - d : d;
      const x = x0 + ux * along + uy * 5, y = y0 + uy * along - ux * 5;
      // A slanted label is a chain of small boxes.
      const chain: PlacedBox[] = [];
      for (let t = 0; t <= width; t += 9)
        chain.push({x0: x + ux * t - 5, y0: y + uy * t - 13, x1: x + ux * t + 8, y1: y + uy * t + 1});
      if (chain.some((b) => taken.hit(b) || marks.hit(b) || !inPlot(s, b.x0, b.y0) || !inPlot(s, b.x1, b.y1))) continue;
      chain.forEach((b) => taken.add(b));
      g.text(x, y, r.label, {
        color: color(r),
        size: 11,
        weight: "500",
        angle: (Math.atan2(uy, ux) * 180) / Math.PI,
        halo: s.colors.background
      });
      break;
    }
  });
}

function drawJoin(g: Surface, s: Scene, points: Point[], width: number, alpha: number) {
  if (points.length < 2) return;
  const a = points[0], b = points[points.length - 1];
  g.line(px(s, a.x), py(s, a.y), px(s, b.x), py(s, b.y), {color: s.colors.muted, width, alpha});
}

// From where the point was before to where it is now.
function drawArrows(g: Surface, s: Scene, row: Row, alpha: number) {
  for (const p of shownPoints(s, row)) {
    const q = row.was?.points.find((o) => o.level === p.level);
    if (!q) continue;
    const x0 = px(s, q.x), y0 = py(s, q.y), x1 = px(s, p.x), y1 = py(s, p.y), length = Math.hypot(x1 - x0, y1 - y0);
    const color = s.colors.level[p.level];
    g.circle(x0, y0, 2.6, s.colors.background, {color, width: 1.2, alpha});
    if (length < 5) continue;
    const ux = (x1 - x0) / length, uy = (y1 - y0) / length, head = Math.min(8, length / 2);
    g.line(x0, y0, x1 - ux * head * 0.7, y1 - uy * head * 0.7, {color, width: 1.4, alpha});
    g.path(
        [
          [x1, y1], [x1 - ux * head - uy * head * 0.45, y1 - uy * head + ux * head * 0.45],
          [x1 - ux * head + uy * head * 0.45, y1 - uy * head - ux * head * 0.45]
        ],
        true, null, color, alpha);
  }
}

const SPARSE = 300;  // up to here names and labels keep clear of every mark
const FEW = 80;      // with more kernels than this, joins and arrows of all would be a thicket

function drawKernels(g: Surface, s: Scene) {
  const isolating = s.selected.size > 0;
  const alpha = s.rows.length > 2000 ? 0.5 : 0.8;
  // Rows come by falling time here, so small marks lie on large ones.
  const rows = [...s.rows].sort((a, b) => (b.time ?? 0) - (a.time ?? 0));
  const few = rows.length <= FEW;
  rows.forEach((row, i) => {
    if (few) drawJoin(g, s, shownPoints(s, row), 0.9, isolating ? 0.1 : 0.5);
    if (row.was && (i < FEW / 2 || s.selected.has(row.index)))
      drawArrows(g, s, row, isolating && !s.selected.has(row.index) ? 0.08 : 0.75);
  });
  const compared = rows.some((r) => r.was);
  const stamps: Stamp[] = [], rings: [number, number, number][] = [];
  for (const row of rows) {
    if (s.selected.has(row.index)) continue;
    const r = compared ? 3.2 : Math.round(4 * size(s, row)) / 4;  // few sizes, so that stamps repeat
    for (const p of row.points) {
      if (s.hiddenLevels.has(p.level)) continue;
      const x = px(s, p.x), y = py(s, p.y);
      if (!inPlot(s, x, y, 14)) continue;
      const color = s.colors.level[p.level], faded = isolating ? 0.1 : alpha, edge = few ? s.colors.background : "";
      // A picture that is blended by hand costs as much as the whole plot: it pays for thousands.
      if (rows.length <= SPARSE || s.beside)
        drawMark(g, p.level, x, y, r, color, edge, faded, s.beside ? row.phase : "");
      else
        stamps.push({
          key: `${p.level} ${r}`,
          x,
          y,
          r: 1.25 * r,
          paint: (on, sx, sy) => drawMark(on, p.level, sx, sy, r, color, edge, faded)
        });
      if (row.above && !isolating) rings.push([x, y, r * 1.15 + 2.5]);
    }
  }
  if (stamps.length) g.stamps(stamps);
  for (const [x, y, r] of rings) g.circle(x, y, r, null, {color: s.colors.warning, width: 1.5});
}

export function drawEmphasised(g: Surface, s: Scene, row: Row, named: boolean) {
  const points = shownPoints(s, row);
  g.clip(s.plot.x0, s.plot.y0, s.plot.x1 - s.plot.x0, s.plot.y1 - s.plot.y0);
  drawJoin(g, s, points, 1.8, 1);
  const r = Math.max(6, size(s, row));
  for (const p of points) {
    drawMark(g, p.level, px(s, p.x), py(s, p.y), r, s.colors.level[p.level], s.colors.ink, 1);
    if (row.above) g.circle(px(s, p.x), py(s, p.y), r * 1.15 + 2.5, null, {color: s.colors.warning, width: 1.6});
  }
  if (named)
    for (const p of points)
      g.text(
          px(s, p.x), py(s, p.y) - r - 6, p.level,
          {color: s.colors.ink, size: 11, weight: "600", anchor: "middle", halo: s.colors.background});
  g.unclip();
}

function markBoxes(s: Scene, rows: Row[]): PlacedBox[] {
  const out: PlacedBox[] = [];
  for (const row of rows)
    for (const p of shownPoints(s, row)) {
      const r = size(s, row), x = px(s, p.x), y = py(s, p.y);
      out.push({x0: x - r, y0: y - r, x1: x + r, y1: y + r});
    }
  return out;
}

// The buttons that zoom lie over the plot, where style.css puts them (.zoomer): a label below them could not be read.
const zoomButtons = (s: Scene): PlacedBox =>
    ({x0: s.width - 54, y0: s.height - 156, x1: s.width - 22, y1: s.height - 60});

export function drawRoofline(g: Surface, s: Scene) {
  g.rect(0, 0, s.width, s.height, s.colors.background);
  drawAxes(g, s);
  const taken = new Grid([zoomButtons(s)]), many = s.rows.length > SPARSE;
  const marks = new Grid(many ? [] : markBoxes(s, s.rows));
  g.clip(s.plot.x0, s.plot.y0, s.plot.x1 - s.plot.x0, s.plot.y1 - s.plot.y0);
  // A cloud of marks would hide the roofs; a few marks are better above them.
  if (many)
    drawKernels(g, s), drawRoofs(g, s, taken, marks);
  else
    drawRoofs(g, s, taken, marks), drawKernels(g, s);
  g.unclip();
  for (const row of s.rows)
    if (s.selected.has(row.index)) drawEmphasised(g, s, row, s.selected.size <= 4);
  drawNames(g, s, taken, marks);
}
