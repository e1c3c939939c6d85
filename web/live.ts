// A view as another design would have it: the rows, strip, roofs and answer that the model inside the page gives, in
// the form that the page's data has, so that everything that shows a view shows this one too.
import {finishRow, type Chart, type Layer, type Num, type PageData, type Roof, type Row, type View} from "./data";
import {isOwnWork, isStart, type Design} from "./design";
import {percent, quantity} from "./format";
import {isTraced, tracedResults} from "./traced";
import type {LayerResult, Model, RoofValues, RunNumbers} from "./model";

export interface Live {
  view: View;
  rows: Row[];
  time: number;       // of the layers that have one
  startTime: number;  // of the same layers in the page's own result
  kept: number;       // time of rows that no layer is known of
  results: LayerResult[];
  ownWork: boolean;
  run: RunNumbers;
  startRun: RunNumbers;
}

function rowOf(old: Row, r: LayerResult, data: PageData, roofs: RoofValues): Row {
  const integer = data.pipes[r.pipe].integer, none = r.refusal !== "";
  const ofRoof = none || !(r.time > 0) || !r.nearest ? null : r.shortest / r.time;
  const amount = (v: number): Num => (none ? null : v);
  const row: Row = {
    ...old,
    time: amount(r.time),
    flop: amount(integer ? 0 : r.work),
    bound: r.bound,
    ofRoof,
    ofCompute: none || integer || !(roofs.pipes[r.pipe] > 0) ? null : r.work / r.time / roofs.pipes[r.pipe],
    above: false,
    headroom: none || !r.nearest ? null : r.time - r.shortest,
    reason: none ? r.refusal : old.reason,
    incomplete: none || old.incomplete,
    bytes: {...old.bytes, L1: amount(r.l1), L2: amount(r.l2), DRAM: amount(r.dram)},
    work: none ? {} : {...Object.fromEntries(Object.keys(old.work).map((p) => [p, 0])), [r.pipe]: r.work},
    ofCeiling: {},
    was: null,
  };
  for (const [level, bytes] of Object.entries(row.bytes))
    if (bytes !== null && roofs.levels[level] > 0) row.ofCeiling[level] = bytes / r.time / roofs.levels[level];
  finishRow(row, data.pipes);
  return row;
}

// The rows that the layers of a network are at the start, or new ones: another sequence or precision may make one layer
// of two that differed.
function startRows(rows: Row[], results: LayerResult[]): Row[] {
  const known = new Map(rows.map((r) => [`${r.phase} ${r.name}`, r]));
  return results.map((r, index) => {
    const old =
        known.get(`${r.pass} ${r.name}`) ?? {...rows[0], name: r.name, shown: r.name, short: r.name, reason: ""};
    return {...old, index, phase: r.pass, launches: r.runs};
  });
}

function movedRoofs(chart: Chart, both: {theoretical: RoofValues; measured: RoofValues}, named: boolean): Roof[] {
  const out: Roof[] = [];
  for (const roof of chart.roofs) {
    const set = roof.measured ? both.measured : both.theoretical;
    const value = (roof.kind === "slope" ? set.levels : set.pipes)[roof.what];
    if (!(value > 0)) continue;
    const unit = roof.kind === "slope" ? "B/s" : "FLOP/s";
    // "DRAM 828 GB/s, measured": the figure is replaced, the words stay; those on clocks and origins are of the start.
    const words = roof.label.replace(/[\d.]+ [kMGTP]?(B|FLOP|OP)\/s/, quantity(value, unit));
    out.push({...roof, value, label: named ? words : words.replace(/ \(.*\)$/, "")});
  }
  return out;
}

// Axes that hold what moved; they never shrink, so that a slider does not shake the picture.
function widened(c: Chart, roofs: Roof[], rows: Row[]): {x: [number, number]; y: [number, number]} {
  let [x0, x1] = c.x, [y0, y1] = c.y;
  for (const roof of roofs)
    if (roof.kind === "flat") y1 = Math.max(y1, Math.log10(roof.value) + 0.15);
  for (const row of rows)
    for (const p of row.points) {
      x0 = Math.min(x0, p.x - 0.1), x1 = Math.max(x1, p.x + 0.1);
      y0 = Math.min(y0, p.y - 0.1), y1 = Math.max(y1, p.y + 0.1);
    }
  return {x: [x0, x1], y: [y0, y1]};
}

// Most of the time first: "DRAM 54 %, compute 31 %".
function waits(results: LayerResult[], time: number): string {
  const sums = new Map<string, number>();
  for (const r of results)
    if (!r.refusal) sums.set(r.waitsFor, (sums.get(r.waitsFor) ?? 0) + r.time);
  return [...sums].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([w, t]) => `${w} ${percent(t / time, 0)}`).join(", ");
}

const times = (ratio: number) => `${ratio.toFixed(ratio < 10 ? 2 : 1)}×`;

// Of another batch or sequence the rate says what a time cannot.
function rateText({run, startRun, time, startTime}: Live): string {
  const per = (r: RunNumbers, t: number) => (r.tokens || r.samples) / t;
  if (!run.tokens && !run.samples) return "";
  const rate = per(run, time);
  return `; ${Number(rate.toPrecision(4)).toLocaleString("en-US")} ${run.tokens ? "tokens" : "samples"}/s, ${
      times(rate / per(startRun, startTime))} the start`;
}

function memoryText({run}: Live): string {
  if (!run.memory || !run.capacity || run.memory <= run.capacity) return "";
  return ` It does not fit: ${quantity(run.memory, "B")} of ${quantity(run.capacity, "B")}.`;
}

function keptText({view, kept, startTime}: Live): string {
  if (!isTraced(view)) return "";
  const rest = kept > 0 ?
      ` ${quantity(kept, "s")} (${percent(kept / (kept + startTime), 0)} of the trace) of kernels ` +
          "without shapes, copies and communication stay as they were." :
      "";
  return ` Measured times, scaled by the model.${rest}`;
}

export function answerOf(live: Live): string {
  const refused = live.results.filter((r) => r.refusal);
  if (refused.length)
    return `${refused.length} of ${live.results.length} ${
        isTraced(live.view) ? "kernels" : "layers"} cannot be computed: ${refused[0].refusal}.`;
  const shortest = live.results.reduce((sum, r) => sum + r.shortest, 0), start = quantity(live.startTime, "s");
  const speed = live.ownWork ? `, ${times(live.startTime / live.time)} as fast as the start (${start})` :
                               ` (${start} at the start)${rateText(live)}`;
  return `${quantity(live.time, "s")}${speed}; ${quantity(shortest, "s")} at the roofs. Waits for ${
      waits(live.results, live.time)}.${memoryText(live)}${keptText(live)}`;
}

// The tile is the one of now; a shape of another batch or sequence is not that of the start.
function detailOf(detail: string, r: LayerResult, ownWork: boolean): string {
  const shape = ownWork ? detail.replace(/, tile \d+x\d+x\d+/, "") : r.pass;
  return r.tile ? `${shape}, tile ${r.tile}` : shape;
}

function liveStrip(view: View, results: LayerResult[], ownWork: boolean): Layer[] {
  const shown = (r: LayerResult): [Num, string] => (r.refusal ? [null, ""] : [r.time, r.waitsFor]);
  if (view.model!.recipe && !ownWork) return results.map((r, i) => [r.name, detailOf("", r, false), ...shown(r), i]);
  return view.layers.map(
      ([name, detail, , , row], i) => [name, detailOf(detail, results[i], ownWork), ...shown(results[i]), row]);
}

export function liveView(model: Model, view: View, rows: Row[], data: PageData, design: Design): Live {
  const results = model.evaluate(design), ownWork = isOwnWork(design);
  const sets = (view.charts ?? []).map((_, i) => model.roofs(design, i));
  const judged = (row: Row) => (view.roofs === "measured" ? sets[row.machine].measured : sets[row.machine].theoretical);
  // Rows that were measured or simulated stay where they are.
  let made = [...rows];
  let shown = results;
  if (isTraced(view)) {
    const traced = tracedResults(model, view, rows, results, data, judged);
    for (const [row, r] of traced) made[row] = {...rowOf(rows[row], r, data, judged(rows[row])), origin: "derived"};
    shown = [...traced.values()];
  } else if (view.model!.recipe)
    made = startRows(rows, results).map((row, i) => rowOf(row, results[i], data, judged(row)));
  else
    view.model!.layers.forEach(({row}, i) => (made[row] = rowOf(rows[row], results[i], data, judged(rows[row]))));
  const time = shown.reduce((sum, r) => sum + (r.refusal ? 0 : r.time), 0);
  const own = new Set(view.model!.layers.map(({row}) => row));
  const startTime = [...own].reduce((sum, row) => sum + (rows[row].time ?? 0), 0);
  const kept = rows.reduce((sum, r) => sum + (own.has(r.index) ? 0 : r.time ?? 0), 0);
  const chosen = data.catalogue?.find((m) => m.id === design.gpu);
  const live: Live = {
    view,
    rows: made,
    time,
    startTime,
    kept,
    results: shown,
    ownWork,
    run: model.run(design),
    startRun: model.startRun
  };
  live.view = {
    ...view,
    whole_time: isTraced(view) ? time + kept : time,
    total: undefined,  // sums, findings and advice are of the page's own result
    advice: undefined,
    zero_flop: undefined,
    charts: (view.charts ?? []).map((c, i) => {
      const roofs = movedRoofs(c, sets[i], isStart(design));
      const subtitle = chosen ? `${c.subtitle} → ${chosen.name}` : c.subtitle;
      return {...c, roofs, subtitle, ...widened(c, roofs, made)};
    }),
    layers: liveStrip(view, results, ownWork),
  };
  live.view.answer = answerOf(live);
  return live;
}
