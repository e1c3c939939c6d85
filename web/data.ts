// The page's data, as src/report/page_json.cpp writes it, and rows made from its columns. An unknown is null, never
// zero.
import type {MachineNumbers, ModelInput} from "./model";

export type Num = number|null;

export interface Palette {
  background: string;
  ink: string;
  muted: string;
  faint: string;
  grid: string;
  minor: string;
  frame: string;
  warning: string;
  level: Record<string, string>;
}
export interface Roof {
  kind: "slope"|"flat";
  what: string;
  value: number;
  measured: boolean;
  other: boolean;
  label: string;
}
export interface Chart {
  machine: number;
  subtitle: string;
  x: [number, number];
  y: [number, number];
  drawn: number;
  levels: string[];
  roofs: Roof[];
  caption: string[];
  clocks_differ: string;
}
export interface Sum {
  name: string;
  launches: number;
  time: Num;
  time_text: string|null;
  flop_text: string|null;
  zero_launches: number;
  zero_time: number;
  bytes?: Record<string, string>;
}
export interface MachineFacts {
  id: string;
  name: string;
  about: string;
  note: string;
  sections: {heading: string; lines: [string, string, string, string][]}[];
}
export interface Axis {
  label: string;
  unit: string;
  log: boolean;
  binary: boolean
}
export type CurveMark = [Num, Num, Num, Num, string, number];  // x, y, low, high, label, chosen
export interface Curves {
  title: string;
  subtitle: string;
  note: string;
  x: Axis;
  y: Axis;
  // Without dots a series is a line that bears its name.
  series: {name: string; line: boolean; dots: boolean; color: string; marks: CurveMark[]}[];
  guides: {label: string; value: Num; from: Num; to: Num; color: string}[];
  limits: {label: string; value: Num; color: string}[];
}
export interface Bars {
  title: string;
  subtitle: string;
  note: string;
  x: Axis;
  stacked: boolean;
  parts: string[];
  bars: {label: string; note: string; text: string; parts: Num[]}[];
}
export interface PlainTable {
  title: string;
  notes: string[];
  columns: {title: string; number: boolean; shaded: boolean}[];
  rows: {state: string; texts: string[]; values: Num[]}[];
}
export type Layer = [string, string, Num, string, Num];
export interface Compared {
  before: string;
  after: string;
  matched_by: string;
  is_prediction: boolean;
  summary: string[];
  rows: any;
  roofs: Roof[];
  times?: boolean;  // comparable; set by decodeRows
  explained: (string|null)[];
  side: number[];
  share: Num[];  // of the time of a row's own side
  total: [string, string, string, string][];
}
export interface View {
  title: string;
  command: string;
  version: string;
  roofs?: string;
  grouping?: string;
  answer?: string;
  advice?: string[];
  side_by_side?: boolean;  // the same kernels by several origins, told apart by phase
  whole_time?: number;
  zero_flop?: {text: string; time: number};
  total?: Sum;
  phases?: Sum[];
  notes?: string[];
  machines?: MachineFacts[];
  charts?: Chart[];
  rows?: any;
  layers: Layer[];
  curves: Curves[];
  bars: Bars[];
  tables: PlainTable[];
  compared?: Compared;
  model?: ModelInput;  // the page can compute this view for another machine
}
export interface PageData {
  version: string;
  title: string;
  command: string;
  dark: boolean;
  overview: boolean;
  palette: {light: Palette; dark: Palette};
  pipes: Record < string, {
    title: string;
    integer: boolean
  }
  > ;
  views: View[];
  module?: string;  // gzip in base64; empty in a page of a build without the compiler for it
  catalogue?: MachineNumbers[];
}

export interface Point {
  level: string;
  x: number;
  y: number
}  // decades
export interface Row {
  index: number;
  name: string;
  shown: string;
  short: string;
  phase: string;
  origin: string;
  reason: string;
  bound: string;
  machine: number;
  launches: number;
  time: Num;
  flop: Num;
  clock: Num;
  ofRoof: Num;
  ofCompute: Num;
  above: boolean;
  incomplete: boolean;
  headroom: Num;
  bytes: Record<string, Num>;
  ofCeiling: Record<string, Num>;
  work: Record<string, Num>;
  rate: Num;
  intensity: Record<string, Num>;
  precision: string;
  points: Point[];
  was: Row|null;
  side: number;  // -1: only before, 1: only after
  share: Num;    // of the time of its own side, in a comparison
  explained: string;
}

export const NOTHING: View = {
  title: "Overview",
  command: "",
  version: "",
  layers: [],
  curves: [],
  bars: [],
  tables: []
};
// The machine with most kernels; a run on one machine has no choice.
export const fullest = (charts: Chart[]) => charts.reduce((best, c, i) => (c.drawn > charts[best].drawn ? i : best), 0);

// The machine that the reader chose (-1: none), else the fullest.
export const chosenChart = (charts: Chart[], chosen: number) =>
    (chosen >= 0 && chosen < charts.length ? chosen : fullest(charts));

export const NO_FLOP = "no FLOP";
export const UNKNOWN = "unknown";

export function positive(v: Num|undefined): v is number {
  return v !== null && v !== undefined && isFinite(v) && v > 0;
}

// The pipe that did most of the FLOP; a kernel belongs to one precision, so that filters add up.
function precisionOf(row: Row, pipes: PageData["pipes"]): string {
  if (row.flop === null) return UNKNOWN;
  if (row.flop === 0) return NO_FLOP;
  let best = UNKNOWN, most = 0;
  for (const [pipe, work] of Object.entries(row.work))
    if (work !== null && work > most && !pipes[pipe].integer) (best = pipe), (most = work);
  return best;
}

// What follows from time, work and bytes.
export function finishRow(row: Row, pipes: PageData["pipes"]) {
  row.rate = row.flop !== null && positive(row.time) ? row.flop / row.time : null;
  row.intensity = {}, row.points = [];
  for (const [level, bytes] of Object.entries(row.bytes)) {
    row.intensity[level] = positive(row.flop) && positive(bytes) ? row.flop / bytes : null;
    const ai = row.intensity[level];
    if (positive(ai) && positive(row.rate)) row.points.push({level, x: Math.log10(ai), y: Math.log10(row.rate)});
  }
  row.points.sort((a, b) => a.x - b.x);
  row.precision = precisionOf(row, pipes);
}

function pick<T>(columns: Record<string, T[]>, i: number): Record<string, T> {
  const out: Record<string, T> = {};
  for (const key of Object.keys(columns)) out[key] = columns[key][i];
  return out;
}

function decodeColumns(c: any, pipes: PageData["pipes"]): (Row|null)[] {
  const text = (i: number) => c.texts[i] as string;
  return c.name.map((name: Num, i: number): Row|null => {
    if (name === null) return null;
    const row: Row = {
      index: i,
      name: text(name),
      shown: text(c.shown[i]),
      short: text(c.short[i]),
      phase: text(c.phase[i]),
      origin: text(c.origin[i]),
      reason: text(c.reason[i]),
      bound: text(c.bound[i]),
      machine: c.machine[i],
      launches: c.launches[i],
      time: c.time[i],
      flop: c.flop[i],
      clock: c.clock[i],
      ofRoof: c.of_roof[i],
      ofCompute: c.of_compute[i],
      above: c.above[i] === 1,
      incomplete: c.incomplete[i] === 1,
      headroom: c.headroom[i],
      bytes: pick<Num>(c.bytes, i),
      ofCeiling: pick<Num>(c.of_ceiling, i),
      work: pick<Num>(c.work, i),
      rate: null,
      intensity: {},
      precision: "",
      points: [],
      was: null,
      side: 0,
      share: null,
      explained: "",
    };
    finishRow(row, pipes);
    return row;
  });
}

// One row for each line of the table. In a comparison a row that has only a side before is shown by that side.
export function decodeRows(view: View, pipes: PageData["pipes"]): Row[] {
  if (!view.rows) return [];
  const now = decodeColumns(view.rows, pipes);
  if (!view.compared) return now as Row[];
  const was = decodeColumns(view.compared.rows, pipes);
  const rows = now.map((row, i): Row => {
    const shown = row ?? was[i]!;
    return {
      ...shown,
      index: i,
      was: row ? was[i] : null,
      side: view.compared!.side[i],
      share: view.compared!.share?.[i] ?? null,
      explained: view.compared!.explained[i] ?? ""
    };
  });
  // A simulation counts bytes, not cycles: beside a model or a measurement its times say nothing.
  const simulated = (r: Row) => r.origin === "simulated";
  view.compared.times = !rows.some((r) => r.was && simulated(r) !== simulated(r.was));
  return rows;
}

// What a row is called: models know layers, profilers launches, kernels and phases.
export function nounOf(view: View, rows: Row[]): string {
  const modelled = rows.length > 0 && rows.every((r) => r.origin === "modelled" || r.origin === "simulated");
  return modelled || view.layers.length ? "layer" : view.grouping ?? "kernel";
}
