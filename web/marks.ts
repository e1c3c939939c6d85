// A shape for each memory level, so that colour is never the only sign; the area of a mark is the kernel's time.
import type {Surface} from "./surface";

// Thousands of marks of full size would be one blot.
const sizes = (marks: number) =>
    (marks <= 300      ? {largest: 12, least: 3, equal: 4.5} :
         marks <= 3000 ? {largest: 9, least: 2.2, equal: 3} :
                         {largest: 6, least: 1.3, equal: 1.8});

export function radius(time: number|null, longest: number, sized: boolean, marks: number): number {
  const {largest, least, equal} = sizes(marks);
  if (!sized) return equal;
  if (!(longest > 0) || !time || !(time > 0)) return least;
  return Math.max(least, largest * Math.sqrt(Math.min(1, time / longest)));
}

// Corners of unit shapes of about the same area as the unit circle.
const CORNERS: Record<string, [number, number][]> = {
  shared: [0, 1, 2, 3, 4].map((i) => [1.15 * Math.sin((i * 2 * Math.PI) / 5), -1.15 * Math.cos((i * 2 * Math.PI) / 5)]),
  L2: [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]],
  L3: [[-1.2, -0.85], [1.2, -0.85], [0, 1.3]],
  DRAM: [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
};

export function drawMark(
    s: Surface, level: string, x: number, y: number, r: number, color: string, rim: string, alpha: number,
    origin = "") {
  // Measured marks are full, modelled ones hollow, simulated ones hollow and small.
  const hollow = origin === "modelled" || origin === "simulated";
  const fill = hollow ? null : color, edge = hollow ? color : rim;
  if (origin === "simulated") r = Math.max(2.5, 0.55 * r);
  if (hollow) {
    const line = {color: edge, width: 1.6, alpha}, at = CORNERS[level];
    if (at)
      s.path(at.map(([dx, dy]) => [x + r * dx, y + r * dy]), true, line, null);
    else
      s.circle(x, y, r, null, line);
    return;
  }
  const stroke = edge && alpha > 0.3 ? {color: edge, width: 0.8, alpha} : null;
  const corners = CORNERS[level];
  if (!corners)
    s.circle(x, y, r, fill, stroke, alpha);
  else
    s.path(corners.map(([dx, dy]) => [x + r * dx, y + r * dy]), true, stroke, fill, alpha);
}
