// Names beside the marks of the longest-running kernels. A name never covers a mark or another name; where there is no
// room beside a mark, it stands farther off and a thin line leads to it.
import {percent} from "./format";
import type {Grid} from "./grid";
import {inPlot, px, py, shownPoints, size, type Scene} from "./roofline";
import type {Surface} from "./surface";

const FONT = 10.5;
const FAR = [26, 44, 66, 92, 124, 160, 200];
const TURNS = 16;
const LED = 8;

// Without its middle, because names that begin alike differ at the end.
export function clipped(g: Surface, text: string, font: number, room: number): string {
  if (g.width(text, font) <= room) return text;
  let n = text.length - 1;
  const cut = () => `${text.slice(0, Math.ceil(n / 2))}…${text.slice(text.length - Math.floor(n / 2))}`;
  while (n > 4 && g.width(cut(), font) > room) n--;
  return cut();
}

type Place = [number, number, boolean];  // left end of the base line; led to by a line

function* places(x: number, y: number, first: number, r: number, width: number): Generator<Place> {
  yield [x + r, y + 4, false];
  yield [first - r - width, y + 4, false];
  yield [x - width / 2, y - r - 2, false];
  yield [x - width / 2, y + r + 9, false];
  for (const far of FAR)
    for (let turn = 0; turn < TURNS; turn++) {
      // Right and upwards first: that is where Rooflines are empty.
      const angle = ((turn % 2 ? -1 : 1) * Math.ceil(turn / 2) * 2 * Math.PI) / TURNS;
      const tx = x + (r + far) * Math.cos(angle), ty = y + (r + far) * Math.sin(angle);
      yield [Math.cos(angle) < -0.1 ? tx - width : tx, ty + 4, true];
    }
}

export function drawNames(g: Surface, s: Scene, taken: Grid, marks: Grid) {
  const byTime = [...s.rows].sort((a, b) => (b.time ?? 0) - (a.time ?? 0));
  const whole = s.rows.reduce((sum, r) => sum + (r.time ?? 0), 0);
  const pool = s.selected.size ? s.rows.filter((r) => s.selected.has(r.index)) : byTime.slice(0, s.labels * 3);
  const seen = new Set<string>();
  let named = 0;
  for (const row of pool) {
    if (named >= s.labels) break;
    if (s.beside && seen.has(row.short)) continue;
    const points = shownPoints(s, row).filter((p) => inPlot(s, px(s, p.x), py(s, p.y)));
    if (!points.length) continue;
    const share = !s.beside && whole > 0 && (row.time ?? 0) > 0 ? ` ${percent((row.time ?? 0) / whole, 0)}` : "";
    const text = clipped(g, row.short, FONT, 190) + share, width = g.width(text, FONT), r = size(s, row) + 4;
    const last = points[points.length - 1], x = px(s, last.x), y = py(s, last.y);
    // Only the first few may stand far off: more lines would be a thicket.
    for (const [tx, ty, led] of places(x, y, px(s, points[0].x), r, width)) {
      if (led && pool.indexOf(row) >= LED) break;
      const box = {x0: tx, y0: ty - 10, x1: tx + width, y1: ty + 3};
      if (!inPlot(s, box.x0, box.y0) || !inPlot(s, box.x1, box.y1) || taken.hit(box) || marks.hit(box)) continue;
      if (led) {
        const ex = Math.max(box.x0, Math.min(x, box.x1)), ey = Math.max(box.y0, Math.min(y, box.y1));
        g.line(x, y, ex, ey, {color: s.colors.muted, width: 0.8, alpha: 0.9});
      }
      g.text(tx, ty, text, {color: s.colors.ink, size: FONT, halo: s.colors.background});
      taken.add(box);
      seen.add(row.short);
      named++;
      break;
    }
  }
}
