// Which rows are shown: chart, table and sums ask here, so they cannot differ.
import {nounOf, type Row, type View} from "./data";
import {count, percent, plural} from "./format";
import type {State} from "./state";

export interface Search {
  test(row: Row): boolean;
  fault: string
}

export function searchOf(pattern: string): Search {
  if (!pattern) return {test: () => true, fault: ""};
  try {
    const regex = new RegExp(pattern, "i");
    return {test: (row) => regex.test(row.shown) || regex.test(row.short), fault: ""};
  } catch (e) {
    // Half-typed patterns are common; until it is one, nothing is hidden and the field says why.
    return {test: () => true, fault: String((e as Error).message)};
  }
}

// The longest-running rows that together make up `share` percent of the time; the row that crosses the line is in.
export function firstByTime(rows: Row[], share: number): Set<number>|null {
  if (share >= 100) return null;
  const byTime = rows.filter((r) => r.time !== null).sort((a, b) => b.time! - a.time! || a.index - b.index);
  const whole = byTime.reduce((sum, r) => sum + r.time!, 0);
  const kept = new Set<number>();
  let seen = 0;
  for (const row of byTime) {
    if (kept.size > 0 && seen >= (share / 100) * whole) break;
    kept.add(row.index);
    seen += row.time!;
  }
  return kept;
}

export function shownRows(rows: Row[], s: State, machine: number, search: Search): Row[] {
  const here = rows.filter((r) => r.machine === machine);
  const first = firstByTime(here, s.share);
  const precisions = new Set(s.hiddenPrecisions), phases = new Set(s.hiddenPhases);
  return here.filter(
      (r) => !precisions.has(r.precision) && !phases.has(r.phase) && (!first || first.has(r.index)) && search.test(r) &&
          (s.only !== "above" || r.above) && (s.only !== "incomplete" || r.incomplete) &&
          (s.only !== "unmatched" || r.side !== 0));
}

export function shownText(view: View, all: Row[], rows: Row[], machine: number): string {
  // Over the rows themselves: a total may be summed by another rule (--flop-rule paper) and differ a little.
  const timeOf = (list: Row[]) => list.reduce((sum, r) => sum + (r.time ?? 0), 0);
  const whole = timeOf(all.filter((r) => r.machine === machine));
  return `${count(rows.length)} of ${plural(all.length, nounOf(view, all))} shown` +
      (whole > 0 ? `, ${percent(timeOf(rows) / whole)} of the time` : "");
}
