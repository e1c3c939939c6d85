// The current view as SVG and PNG, its rows as CSV. The picture gets the heading that on the page stands around it.
import type {PageData, Row, View} from "./data";
import {csvOf} from "./columns";
import {download} from "./dom";
import {drawRoofline, type Scene} from "./roofline";
import {CanvasSurface, SvgSurface, type Surface} from "./surface";

const HEAD = 52, FOOT = 26;

function drawWhole(g: Surface, s: Scene, title: string, foot: string) {
  const height = s.height + HEAD + FOOT;
  g.rect(0, 0, s.width, height, s.colors.background);
  g.text(16, 26, title.slice(0, 120), {color: s.colors.ink, size: 17, weight: "600"});
  g.text(16, 44, s.chart.subtitle, {color: s.colors.muted, size: 12});
  let x = s.width - 16;
  for (const level of [...s.chart.levels].reverse()) {
    if (s.hiddenLevels.has(level)) continue;
    x -= g.width(level, 12) + 22;
    g.circle(x + 5, 40, 5, s.colors.level[level], null);
    g.text(x + 15, 44, level, {color: s.colors.ink, size: 12});
  }
  drawRoofline(shifted(g), s);
  g.text(16, height - 9, foot, {color: s.colors.muted, size: 10.5});
}

// The chart is drawn from its own corner; here it lies under the heading.
function shifted(g: Surface): Surface {
  return {
    rect: (x, y, w, h, c) => g.rect(x, y + HEAD, w, h, c),
    line: (x0, y0, x1, y1, s) => g.line(x0, y0 + HEAD, x1, y1 + HEAD, s),
    path: (p, closed, s, f, a) => g.path(p.map(([x, y]) => [x, y + HEAD]), closed, s, f, a),
    circle: (x, y, r, f, s, a) => g.circle(x, y + HEAD, r, f, s, a),
    text: (x, y, t, s) => g.text(x, y + HEAD, t, s),
    stamps: (list) => g.stamps(list.map((stamp) => ({...stamp, y: stamp.y + HEAD}))),
    clip: (x, y, w, h) => g.clip(x, y + HEAD, w, h),
    unclip: () => g.unclip(),
    width: (t, s, w) => g.width(t, s, w),
  };
}

export function fileName(title: string, ending: string): string {
  return `${(title || "roofline").replace(/[^\w.-]+/g, "_").slice(0, 60) || "roofline"}.${ending}`;
}
const foot = (data: PageData, rows: Row[]) => `${rows.length} kernels shown · gambrel ${data.version}`;

export function svgText(data: PageData, view: View, s: Scene): string {
  const g = new SvgSurface(s.width, s.height + HEAD + FOOT, view.title);
  drawWhole(g, s, view.title, foot(data, s.rows));
  return g.take();
}

export function saveSvg(data: PageData, view: View, s: Scene) {
  download(fileName(view.title, "svg"), new Blob([svgText(data, view, s)], {type: "image/svg+xml"}));
}

export function savePng(data: PageData, view: View, s: Scene) {
  const canvas = document.createElement("canvas");
  canvas.width = s.width * 2;
  canvas.height = (s.height + HEAD + FOOT) * 2;
  const context = canvas.getContext("2d")!;
  context.scale(2, 2);
  drawWhole(new CanvasSurface(context), s, view.title, foot(data, s.rows));
  canvas.toBlob((blob) => blob && download(fileName(view.title, "png"), blob), "image/png");
}

export function saveCsv(data: PageData, view: View, rows: Row[]) {
  download(fileName(view.title, "csv"), new Blob([csvOf(rows, data)], {type: "text/csv"}));
}

export function save(kind: "svg"|"png"|"csv", data: PageData, view: View, scene: Scene, rows: Row[]) {
  if (kind === "svg")
    saveSvg(data, view, scene);
  else if (kind === "png")
    savePng(data, view, scene);
  else
    saveCsv(data, view, rows);
}
