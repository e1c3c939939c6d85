// The timeline of a trace, as src/report/page_timeline.cpp writes it: boxes on lanes, each in a group that gives it its
// colour. Times are nanoseconds since the first event of the rank.
import type {BoundColors} from "./bounds";
import {NO_FLOP, UNKNOWN, type Num, type PageData, type Palette} from "./data";
import {boundTitle, precisionTitle} from "./details";

export interface TimelineColumns {
  wall: number;
  merged: string;             // what is not drawn as it ran; empty: all is
  lanes: [string, number][];  // name, streams that share it
  groups: [string, string, string][];
  steps: [number, number, number, number][];  // first lane, last lane, start, number
  lane: number[];
  gap: number[];  // from the start of the box before in the lane
  span: number[];
  busy: Num[];  // null: all of the span
  events: number[];
  group: number[];
  row: Num[];
  name: number[];
  texts: string[];
}
declare module "./data" {
  interface View {
    timeline?: TimelineColumns;
  }
}

export interface Box {
  index: number;
  lane: number;
  start: number;
  end: number;
  busy: number;
  events: number;
  group: number;
  row: Num;
  name: string;
  low: number;  // of the height of the lane, from below
  high: number;
}
export interface Timeline {
  columns: TimelineColumns;
  boxes: Box[];
  lanes: Box[][];
  events: number;
  busy: number;
}

// Boxes of one lane with the same start share its height, by the share of the time that each fills.
function stack(boxes: Box[], streams: number) {
  const room = boxes.map((b) => (b.end > b.start ? b.busy / ((b.end - b.start) * streams) : 1));
  const most = Math.max(1, room.reduce((sum, r) => sum + r, 0));
  let low = 0;
  boxes.forEach((b, i) => {
    b.low = low;
    b.high = low += room[i] / most;
  });
}

export function decodeTimeline(c: TimelineColumns): Timeline {
  const out: Timeline = {columns: c, boxes: [], lanes: c.lanes.map(() => []), events: 0, busy: 0};
  let start = 0, together: Box[] = [];
  const close = () => {
    if (together.length) stack(together, c.lanes[together[0].lane][1]);
    together = [];
  };
  c.lane.forEach((lane, i) => {
    if (i === 0 || lane !== c.lane[i - 1]) (start = 0), close();
    if (c.gap[i] > 0) close();
    start += c.gap[i];
    const box: Box = {
      index: i,
      lane,
      start,
      end: start + c.span[i],
      busy: c.busy[i] ?? c.span[i],
      events: c.events[i],
      group: c.group[i],
      row: c.row[i],
      name: c.texts[c.name[i]],
      low: 0,
      high: 1
    };
    together.push(box);
    out.boxes.push(box);
    out.lanes[lane].push(box);
    out.events += box.events;
    out.busy += box.busy;
  });
  close();
  return out;
}

export type ColorBy = "bottleneck"|"class"|"pipe";

// On both backgrounds at 3:1 or more, and none that a memory level or a pipe has.
const CLASSES: Record<string, [string, string]> = {
  modelled: ["#2f855a", "#7bd3a5"],
  unmodelled: ["#c00030", "#ff7b8f"],
  before_capture: ["#7d5a3c", "#c9a98c"],
  graph: ["#1e4e8c", "#8ab4f0"],
  communication: ["#b5179e", "#ff8ae6"],
  copy: ["#00727f", "#5fd0dc"],
  memset: ["#4f8f91", "#a9d6d8"],
};
export const classTitle = (name: string) => name.replace("_", " ");

export interface Paint {
  key: string;
  title: string;
  color: string;
}
// What a group is drawn as. Only what is modelled has a bottleneck and a pipe; the rest is shown by its class.
export function paintOf(
    group: [string, string, string], by: ColorBy, data: PageData, colors: BoundColors, palette: Palette,
    dark: boolean): Paint {
  const [kind, bound, pipe] = group;
  if (by === "class" || kind !== "modelled")
    return {key: kind, title: classTitle(kind), color: CLASSES[kind]?.[dark ? 1 : 0] ?? palette.faint};
  if (by === "bottleneck")
    return {key: `bound ${bound}`, title: boundTitle(bound, data), color: colors.color(bound, palette, dark)};
  const title = pipe ? precisionTitle(pipe, data) : UNKNOWN;
  const color = pipe === NO_FLOP || !pipe ? palette.faint : colors.color(pipe, palette, dark);
  return {key: `pipe ${pipe}`, title, color};
}

// Time by colour, falling. Together they are the GPU time.
export function sumsOf(t: Timeline, paints: Paint[]): {paint: Paint; ns: number; events: number}[] {
  const sums = new Map < string, {
    paint: Paint;
    ns: number;
    events: number
  }
  > ();
  for (const box of t.boxes) {
    const paint = paints[box.group];
    const sum = sums.get(paint.key) ?? {paint, ns: 0, events: 0};
    (sum.ns += box.busy), (sum.events += box.events);
    sums.set(paint.key, sum);
  }
  return [...sums.values()].sort((a, b) => b.ns - a.ns);
}

// The box under a point: of those that overlap, the one that began last. `reach`: nanoseconds that a pointer may miss
// by.
export function boxAt(boxes: Box[], time: number, height: number, reach: number): Box|null {
  let low = 0, high = boxes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (boxes[middle].start <= time + reach)
      low = middle + 1;
    else
      high = middle;
  }
  let best: Box|null = null, least = Infinity;
  for (let i = low - 1; i >= 0 && i >= low - 64; i--) {
    const b = boxes[i], off = time < b.start ? b.start - time : Math.max(0, time - b.end);
    const beside = height >= b.low && height < b.high ? 0 : reach / 2;
    if (off <= reach && off + beside < least) (best = b), (least = off + beside);
  }
  return best;
}
