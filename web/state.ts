// What the reader chose, and its spelling in the URL's hash. Only what differs from the start is spelled.

import {designFromHash, designToHash, startDesign, type Design} from "./design";

export interface Box {
  x0: number;
  x1: number;
  y0: number;
  y1: number
}  // decades
export type Roofs = "both"|"theoretical"|"measured"|"none";
export interface State {
  view: number;
  machine: number;
  search: string;
  hiddenLevels: string[];
  hiddenPrecisions: string[];
  hiddenPhases: string[];
  share: number;
  roofs: Roofs;
  sized: boolean;
  only: ""|"above"|"incomplete"|"unmatched";
  selected: number[];
  sort: string;
  ascending: boolean;
  theme: ""|"light"|"dark";
  box: Box|null;
  design: Design;
}

// What is isolated after a click on a row, or beside all rows (null).
export function picked(now: number[], row: number|null, add: boolean): number[] {
  if (row === null) return [];
  if (add) return now.includes(row) ? now.filter((i) => i !== row) : [...now, row];
  return now.length === 1 && now[0] === row ? [] : [row];
}

let first = 0;
// Which view a page without a hash shows.
export function startAt(view: number) { first = view; }

export function initialState(): State {
  return {
    view: first,
    machine: -1,
    search: "",
    hiddenLevels: [],
    hiddenPrecisions: [],
    hiddenPhases: [],
    share: 100,
    roofs: "both",
    sized: true,
    only: "",
    selected: [],
    sort: "time",
    ascending: false,
    theme: "",
    box: null,
    design: startDesign(),
  };
}

// Phases are any text, so the parts of a list are encoded once more before they are joined.
const joined = (list: string[]) => list.map(encodeURIComponent).join(",");
const split = (text: string|null) => (text ? text.split(",").map(decodeURIComponent) : []);

export function toHash(s: State): string {
  const p = new URLSearchParams();
  if (s.view !== first) p.set("view", String(s.view));
  if (s.machine >= 0) p.set("machine", String(s.machine));
  if (s.search) p.set("search", s.search);
  if (s.hiddenLevels.length) p.set("hide-levels", joined(s.hiddenLevels));
  if (s.hiddenPrecisions.length) p.set("hide-precisions", joined(s.hiddenPrecisions));
  if (s.hiddenPhases.length) p.set("hide-phases", joined(s.hiddenPhases));
  if (s.share < 100) p.set("time", String(s.share));
  if (s.roofs !== "both") p.set("roofs", s.roofs);
  if (!s.sized) p.set("size", "equal");
  if (s.only) p.set("only", s.only);
  if (s.selected.length) p.set("kernel", s.selected.join(","));
  if (s.sort !== "time" || s.ascending) p.set("sort", (s.ascending ? "+" : "-") + s.sort);
  if (s.theme) p.set("theme", s.theme);
  if (s.box) p.set("box", [s.box.x0, s.box.x1, s.box.y0, s.box.y1].map((v) => v.toFixed(3)).join(","));
  designToHash(s.design, p);
  return p.toString();
}

function whole(text: string|null, otherwise: number): number {
  const n = Number(text);
  return text !== null && Number.isInteger(n) && n >= 0 ? n : otherwise;
}

function boxOf(text: string|null): Box|null {
  const n = (text ?? "").split(",").map(Number);
  if (n.length !== 4 || n.some((v) => !isFinite(v)) || n[1] <= n[0] || n[3] <= n[2]) return null;
  return {x0: n[0], x1: n[1], y0: n[2], y1: n[3]};
}

function oneOf<T extends string>(text: string|null, known: readonly T[], otherwise: T): T {
  return known.includes(text as T) ? (text as T) : otherwise;
}

// A hash may be typed by hand or come from an older page: what is not understood is left at its start value.
export function fromHash(hash: string): State {
  const s = initialState();
  let p: URLSearchParams;
  try {
    p = new URLSearchParams(hash.replace(/^#/, ""));
    s.hiddenLevels = split(p.get("hide-levels"));
    s.hiddenPrecisions = split(p.get("hide-precisions"));
    s.hiddenPhases = split(p.get("hide-phases"));
  } catch { return initialState(); }
  s.view = whole(p.get("view"), first);
  s.machine = whole(p.get("machine"), -1);
  s.search = p.get("search") ?? "";
  const share = Number(p.get("time") ?? 100);
  s.share = share >= 1 && share <= 100 ? share : 100;
  s.roofs = oneOf(p.get("roofs"), ["both", "theoretical", "measured", "none"] as const, "both");
  s.sized = p.get("size") !== "equal";
  s.only = oneOf(p.get("only"), ["", "above", "incomplete", "unmatched"] as const, "");
  s.selected = (p.get("kernel") ?? "").split(",").filter((t) => /^\d+$/.test(t)).map(Number);
  const sort = /^([+ -])(.+)$/.exec(p.get("sort") ?? "");  // a plus may arrive as a blank
  if (sort) (s.ascending = sort[1] !== "-"), (s.sort = sort[2]);
  s.theme = oneOf(p.get("theme"), ["", "light", "dark"] as const, "");
  s.box = boxOf(p.get("box"));
  s.design = designFromHash(p);
  return s;
}
