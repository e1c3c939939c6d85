// What is said of one box of a timeline, and the timeline as files.
import {field} from "./columns";
import type {Row} from "./data";
import {download, el, nameOf} from "./dom";
import {fileName} from "./exports";
import {count, plural} from "./format";
import {SvgSurface} from "./surface";
import {classTitle, type Box, type Paint, type Timeline} from "./timeline_data";
import {drawTimeline, heightOf, timeText, type TimelineScene} from "./timeline_draw";

type Fact = [string, string];

function factsOf(b: Box, t: Timeline, paint: Paint, row: Row|null): Fact[] {
  const [kind] = t.columns.groups[b.group];
  const step = t.columns.steps.filter(([first, last, at]) => b.lane >= first && b.lane <= last && at <= b.start).pop();
  const facts: Fact[] = [
    ["Start", timeText(b.start, Math.max(1, b.end - b.start))],
    ["Time", timeText(b.busy)],
    ["Events", b.events === 1 ? "" : `${count(b.events)} in ${timeText(b.end - b.start)}, named by the longest`],
    ["On", t.columns.lanes[b.lane][0]],
    ["After the start of", step ? `step ${step[3] + 1}` : ""],
    ["Class", classTitle(kind)],
    [paint.key.startsWith("pipe") ? "Pipe" : "Bound", paint.title === classTitle(kind) ? "" : paint.title],
    ["In the row", row && row.short !== b.name ? row.short : ""],
    ["Of the row", row ? `${plural(row.launches, "launch")}, ${timeText((row.time ?? 0) * 1e9)}` : ""],
  ];
  return facts.filter(([, text]) => text);
}

export function aboutBox(b: Box, t: Timeline, paint: Paint, row: Row|null): {node: HTMLElement; spoken: string} {
  const facts = factsOf(b, t, paint, row);
  const node =
      el("div", {class: "details"}, el("p", {class: "name", dir: "auto"}, nameOf(b.name)),
         el("dl", {}, ...facts.flatMap(([what, text]) => [el("dt", {}, what), el("dd", {}, nameOf(text))])));
  return {node, spoken: `${b.name.slice(0, 120)}: ${facts.map(([what, text]) => `${what} ${text}`).join(", ")}`};
}

export function saveTimeline(kind: "svg"|"csv", s: TimelineScene, title: string) {
  const t = s.timeline, {lanes, groups} = t.columns;
  if (kind === "svg") {
    const g = new SvgSurface(s.width, heightOf(t.lanes.length), title);
    drawTimeline(g, s);
    return download(fileName(title, "svg"), new Blob([g.take()], {type: "image/svg+xml"}));
  }
  const cells = t.boxes.map((b) => [lanes[b.lane][0], b.start, b.end, b.busy, b.events, ...groups[b.group], b.name]);
  const head = ["lane", "start [ns]", "end [ns]", "busy [ns]", "events", "class", "bottleneck", "pipe", "kernel"];
  const text = [head, ...cells].map((line) => line.map((v) => field(String(v))).join(",")).join("\n");
  download(fileName(title, "csv"), new Blob([`${text}\n`], {type: "text/csv"}));
}
