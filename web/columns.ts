// The columns of the table of kernels, and the columns of `gambrel analyze --csv`, which the page's export repeats.
import {nounOf, type Num, type PageData, type Row, type View} from "./data";
import {boundTitle, precisionTitle} from "./details";
import {change, count, intensity, percent, quantity} from "./format";

export interface Column {
  key: string;
  title: string;
  width: number;
  value(row: Row): Num|string;
  text(row: Row): string;
  help?: string;
  isText?: boolean;
}

const over = (a: Num|undefined, b: Num|undefined): Num => (a && b !== null && b !== undefined ? b / a : null);

// Without what all begin with, up to a separator: the difference is at the end.
export function withoutCommon(texts: string[]): (text: string) => string {
  const all = [...new Set(texts)].filter((t) => t);
  if (all.length < 2) return (text) => text;
  let n = 0;
  while (n < all[0].length && all.every((t) => t[n] === all[0][n])) n++;
  while (n > 0 && !/[-_./: ]/.test(all[0][n - 1])) n--;
  return n < 4 ? (text) => text : (text) => (text ? `…${text.slice(n)}` : text);
}

// On a narrow screen the time stands beside the name, and what every row has in common is left out.
export function columns(data: PageData, view: View, rows: Row[]): Column[] {
  const all = columnsOf(data, view, rows);
  const same = rows.every((r) => r.origin === rows[0].origin);
  // A comparison is about what changed; where a row stands on the chart is in its details.
  const beside = (c: Column) => !view.compared || !/^(ai-.*|precision|launches|headroom)$/.test(c.key);
  const out = all.filter((c) => beside(c) && !(same && c.key === "origin"))
                  .map((c) => (view.compared && c.key === "name" ? {...c, width: 240} : c));
  if (!matchMedia("(max-width: 600px)").matches) return out;
  const first = ["name", "time", "share"];
  const narrow = (c: Column) => (c.key === "name" ? {...c, width: 170} : c);
  return [...first.map((k) => out.find((c) => c.key === k)!), ...out.filter((c) => !first.includes(c.key))].map(narrow);
}

// Which side a row without a partner is on.
function sideText(row: Row, view: View): string {
  if (!row.side) return "";
  return row.side < 0 ? `only in ${view.compared!.before}` : `only in ${view.compared!.after}`;
}

function columnsOf(data: PageData, view: View, rows: Row[]): Column[] {
  const noun = nounOf(view, rows) === "layer" ? "Layer" : "Kernel";
  const wholeTime = view.whole_time ?? 0, phase = withoutCommon(rows.map((r) => r.phase));
  const levels = view.charts?.flatMap((c) => c.levels).filter((l, i, all) => all.indexOf(l) === i) ?? [];
  const out: Column[] =
      [{key: "name", isText: true, title: noun, width: 300, value: (r) => r.short, text: (r) => r.short}];
  if (view.phases?.length)
    out.push(
        {key: "phase", isText: true, title: "Phase", width: 110, value: (r) => r.phase, text: (r) => phase(r.phase)});
  out.push(
      {
        key: "launches",
        title: noun === "Layer" ? "Runs" : "Launches",
        width: 78,
        value: (r) => r.launches,
        text: (r) => count(r.launches)
      },
      {key: "time", title: "Time", width: 84, value: (r) => r.time, text: (r) => quantity(r.time, "s")}, {
        key: "share",
        title: "of time",
        width: 76,
        value: (r) => r.share ?? r.time,
        text: (r) => percent(r.share ?? (wholeTime > 0 && r.time !== null ? r.time / wholeTime : null)),
        help: view.compared ? "of the time of the side that the row is on" : undefined
      });
  if (view.compared) {
    // Of a prediction the error is shown: predicted over measured.
    const ratio = (was: Num|undefined, now: Num|undefined) =>
        (view.compared!.is_prediction ? over(now, was) : over(was, now));
    if (view.compared.times)
      out.push({
        key: "dtime",
        title: "Δ time",
        width: 84,
        value: (r) => ratio(r.was?.time, r.time),
        text: (r) => change(ratio(r.was?.time, r.time))
      });
    for (const l of levels)
      out.push({
        key: `d-${l}`,
        title: `Δ ${l}`,
        width: 84,
        value: (r) => ratio(r.was?.bytes[l], r.bytes[l]),
        text: (r) => change(ratio(r.was?.bytes[l], r.bytes[l])),
        help: `change of the bytes at ${l}`
      });
    if (view.compared.times)
      out.push({
        key: "explained",
        isText: true,
        title: "Explained by",
        width: 190,
        value: (r) => sideText(r, view) || r.explained,
        text: (r) => sideText(r, view) || r.explained
      });
  }
  out.push(
      {
        key: "precision",
        isText: true,
        title: "Precision",
        width: 100,
        value: (r) => precisionTitle(r.precision, data),
        text: (r) => precisionTitle(r.precision, data)
      },
      {key: "rate", title: "FLOP/s", width: 104, value: (r) => r.rate, text: (r) => quantity(r.rate, "FLOP/s")});
  for (const l of levels)
    out.push({
      key: `ai-${l}`,
      title: `AI ${l}`,
      width: 76,
      value: (r) => r.intensity[l] ?? null,
      text: (r) => intensity(r.intensity[l]),
      help: `arithmetic intensity: FLOP for each byte moved at ${l}`
    });
  out.push(
      {
        key: "bound",
        isText: true,
        title: "Bound",
        width: 104,
        value: (r) => boundTitle(r.bound, data),
        text: (r) => boundTitle(r.bound, data),
        help: "the roof that leaves the least room: a memory level, or the pipe that computes"
      },
      {
        key: "roof",
        title: "of roof",
        width: 78,
        value: (r) => r.ofRoof,
        text: (r) => percent(r.ofRoof),
        help: "how much of that roof is reached: the shortest time that it allows, over the time taken"
      },
      {
        key: "headroom",
        title: "Headroom",
        width: 88,
        value: (r) => r.headroom,
        text: (r) => quantity(r.headroom, "s"),
        help: "the time that would be saved at that roof"
      },
      {key: "origin", isText: true, title: "Origin", width: 96, value: (r) => r.origin, text: (r) => r.origin});
  return out;
}

// Unknowns go last either way; equal values keep the order of the rows, so that a sort is the same each time.
export function sorted(rows: Row[], column: Column, ascending: boolean): Row[] {
  const sign = ascending ? 1 : -1;
  return [...rows].sort((a, b) => {
    const x = column.value(a), y = column.value(b);
    if (x === null || x === "" || y === null || y === "")
      return (x === null || x === "" ? 1 : 0) - (y === null || y === "" ? 1 : 0) || a.index - b.index;
    if (typeof x === "number" && typeof y === "number") return sign * (x - y) || a.index - b.index;
    return sign * (String(x) < String(y) ? -1 : String(x) > String(y) ? 1 : 0) || a.index - b.index;
  });
}

// A name that a spreadsheet would run as a formula is written behind an apostrophe (docs/formats.md).
const guarded = (text: string) =>
    (/^'*[=+\-@\t\r]/.test(text) && !(text !== "" && isFinite(Number(text))) ? `'${text}` : text);
const quoted = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replace(/"/g, "\"\"")}"` : text);
export const field = (text: string) => quoted(guarded(text));
const number = (v: Num|undefined) => (v === null || v === undefined || !isFinite(v) ? "" : String(v));

export function csvOf(rows: Row[], data: PageData): string {
  const head =
      "name,phase,launches,time_s,flop_fp64,flop_fp32,flop_fp16,flop_tensor,flop,l1_bytes,l2_bytes,dram_bytes," +
      "ai_l1,ai_l2,ai_dram,flop_per_s,bound,percent_of_roof,reason";
  const tensor = (r: Row): Num => {
    const parts =
        Object.entries(r.work).filter(([p, w]) => p.startsWith("tensor_") && !data.pipes[p].integer && w !== null);
    return parts.length ? parts.reduce((sum, [, w]) => sum + w!, 0) : null;
  };
  return [
    head,
    ...rows.map(
        (r) => [field(r.name), field(r.phase), String(r.launches), number(r.time), number(r.work.fp64),
                number(r.work.fp32), number(r.work.fp16), number(tensor(r)), number(r.flop), number(r.bytes.L1),
                number(r.bytes.L2), number(r.bytes.DRAM), number(r.intensity.L1), number(r.intensity.L2),
                number(r.intensity.DRAM), number(r.rate), r.bound, number(r.ofRoof === null ? null : 100 * r.ofRoof),
                field(r.reason)]
                   .join(","))
  ].join("\n") +
      "\n";
}
