// Draws a timeline: an axis of time, a lane for each stream, boxes, steps.
import {ticks as linearTicks} from "d3-array";
import type {Palette} from "./data";
import {clipped} from "./names";
import {plural, quantity} from "./format";
import type {Surface} from "./surface";
import type {Box, Paint, Timeline} from "./timeline_data";

export interface TimelineScene {
  timeline: Timeline;
  paints: Paint[];
  from: number;  // what is in sight, in nanoseconds
  to: number;
  width: number;
  gutter: number;
  colors: Palette;
  selected: Set<number>;
  shown: Set<number>|null;  // rows that the filters let through; null: all
}

export const AXIS = 34, FOOT = 4;
export const laneHeight = (lanes: number) => (lanes <= 4 ? 30 : lanes <= 16 ? 20 : 12);
export const heightOf = (lanes: number) => AXIS + lanes * laneHeight(lanes) + FOOT;
export const xAt = (s: TimelineScene, ns: number) =>
    s.gutter + ((ns - s.from) / (s.to - s.from)) * (s.width - s.gutter);
export const timeAt = (s: TimelineScene, x: number) =>
    s.from + ((x - s.gutter) / (s.width - s.gutter)) * (s.to - s.from);

const channels = (color: string) => [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
// As if laid over the background with little ink.
function faded(color: string, background: string): string {
  const back = channels(background);
  return `#${
      channels(color).map((v, i) => Math.round(0.2 * v + 0.8 * back[i]).toString(16).padStart(2, "0")).join("")}`;
}
// Black or white, whichever is easier to read on it.
function inkOn(color: string): string {
  const [r, g, b] =
      channels(color).map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

export function place(s: TimelineScene, b: Box): {x: number; y: number; w: number; h: number} {
  const lane = laneHeight(s.timeline.lanes.length), inner = lane - 3;
  const x = Math.max(xAt(s, b.start), s.gutter - 2), right = Math.min(xAt(s, b.end), s.width + 2);
  // An event of a pixel or less must still be seen.
  return {
    x,
    y: AXIS + b.lane * lane + 1 + inner * (1 - b.high),
    w: Math.max(right - x, 0.7),
    h: Math.max(inner * (b.high - b.low), 0.5)
  };
}

export const timeText = (ns: number, step = 0) => {
  const digits = step > 0 && ns > 0 ? Math.ceil(Math.log10(ns / step)) + 1 : 4;
  return quantity(ns * 1e-9, "s", Math.min(15, Math.max(3, digits)));
};

function drawAxis(g: Surface, s: TimelineScene, bottom: number) {
  const room = Math.max(2, Math.floor((s.width - s.gutter) / 110));
  const ticks: number[] = linearTicks(s.from, s.to, room), step = ticks.length > 1 ? ticks[1] - ticks[0] : 0;
  for (const t of ticks) {
    const x = xAt(s, t);
    g.line(x, AXIS - 6, x, bottom, {color: s.colors.grid, width: 1});
    const text = timeText(t, step), wide = g.width(text, 11);
    const at = Math.min(Math.max(x, s.gutter + wide / 2), s.width - wide / 2 - 1);
    g.text(at, AXIS - 10, text, {color: s.colors.muted, size: 11, anchor: "middle"});
  }
}

function drawSteps(g: Surface, s: TimelineScene) {
  const lane = laneHeight(s.timeline.lanes.length);
  let free = -Infinity;
  for (const [first, last, start, number] of s.timeline.columns.steps) {
    const x = xAt(s, start);
    if (x < s.gutter || x > s.width) continue;
    const top = AXIS + first * lane;
    g.line(x, first === 0 ? AXIS - 30 : top, x, top + (last - first + 1) * lane, {color: s.colors.ink, width: 1.2});
    const text = `step ${number + 1}`, wide = g.width(text, 10.5) + 8;
    if (first !== 0 || x < free || x + wide > s.width) continue;
    g.text(x + 4, AXIS - 23, text, {color: s.colors.ink, size: 10.5});
    free = x + wide;
  }
}

export function drawTimeline(g: Surface, s: TimelineScene) {
  const {lanes} = s.timeline, lane = laneHeight(lanes.length), bottom = AXIS + lanes.length * lane;
  g.rect(0, 0, s.width, bottom + FOOT, s.colors.background);
  drawAxis(g, s, bottom);
  const faint = s.paints.map((p) => faded(p.color, s.colors.background));
  const full = s.paints.map((p) => p.color), inks = full.map(inkOn);
  const isFaint = (b: Box) =>
      (s.selected.size ? b.row === null || !s.selected.has(b.row) :
                         s.shown !== null && b.row !== null && !s.shown.has(b.row));
  g.clip(s.gutter, 0, s.width - s.gutter, bottom + FOOT);
  lanes.forEach((boxes, i) => {
    g.line(s.gutter, AXIS + (i + 1) * lane - 1, s.width, AXIS + (i + 1) * lane - 1, {color: s.colors.grid, width: 1});
    for (const faintNow of [true, false])  // what is chosen lies above
      for (const b of boxes) {
        if (b.end < s.from || b.start > s.to || isFaint(b) !== faintNow) continue;
        const {x, y, w, h} = place(s, b);
        const rim = w > 4 ? 0.6 : 0;  // so that equal neighbours are two
        g.rect(x, y, w - rim, h, (faintNow ? faint : full)[b.group]);
        if (!faintNow && w > 34 && h > 10)
          g.text(
              x + 4, y + h / 2 + 3.5, clipped(g, b.events === 1 ? b.name : plural(b.events, "event"), 10, w - 8),
              {color: inks[b.group], size: 10});
      }
  });
  drawSteps(g, s);
  g.unclip();
  lanes.forEach((_, i) => {
    const text = clipped(g, s.timeline.columns.lanes[i][0], 11, s.gutter - 8);
    g.text(s.gutter - 6, AXIS + (i + 0.5) * lane + 3, text, {color: s.colors.ink, size: 11, anchor: "end"});
  });
}
