// The filters above the chart: search, levels, precisions, phases, share of time, roofs, size of marks.
import {withoutCommon} from "./columns";
import {type PageData, type Row, type View} from "./data";
import {precisionTitle} from "./details";
import {el, nameOf, replace} from "./dom";
import type {Search} from "./filter";
import type {Roofs, State} from "./state";

const SHAPES: Record<string, string> = {
  shared: "⬟",
  L1: "●",
  L2: "◆",
  L3: "▼",
  DRAM: "■"
};

export type Change = (patch: Partial<State>) => void;

function toggled(list: string[], item: string): string[] {
  return list.includes(item) ? list.filter((i) => i !== item) : [...list, item];
}

function chips(
    what: string, items: string[], hidden: string[], change: (hidden: string[]) => void,
    face: (item: string) => Node[]): HTMLElement {
  const group = el("div", {class: "group", role: "group", "aria-label": what}, el("span", {class: "caption"}, what));
  for (const item of items)
    group.append(
        el("button", {
          type: "button",
          class: "chip",
          "aria-pressed": hidden.includes(item) ? "false" : "true",
          "data-chip": item,
          // Alt: only this one, or all again if it already is.
          click: ((e: MouseEvent) => {
                   const others = items.filter((i) => i !== item);
                   const alone = !hidden.includes(item) && others.every((i) => hidden.includes(i));
                   change(e.altKey ? (alone ? [] : others) : toggled(hidden, item));
                 }) as EventListener,
        },
           ...face(item)));
  return group;
}

export class Controls {
  readonly node = el("section", {class: "controls", "aria-label": "Filters"});
  private search: HTMLInputElement;
  private fault = el("span", {class: "fault", id: "search-fault", role: "alert"});
  private share: HTMLInputElement;
  private shareText = el("output", {class: "value"});
  private sized: HTMLInputElement;
  private roofs: HTMLSelectElement;
  private machine: HTMLSelectElement;
  private machineBox: HTMLElement;
  private levels = el("div", {});
  private precisions = el("div", {});
  private phases = el("div", {});
  private only = el("div", {class: "group"});
  private ofKernels: HTMLElement[];

  constructor(private data: PageData, private change: Change, reset: () => void) {
    this.search = el("input", {
      type: "search",
      id: "search",
      placeholder: "regular expression",
      spellcheck: "false",
      autocomplete: "off",
      "aria-describedby": "search-fault",
      input: () => change({search: this.search.value}),
    });
    this.share = el("input", {
      type: "range",
      id: "share",
      min: 1,
      max: 100,
      step: 1,
      input: () => change({share: Number(this.share.value)})
    });
    this.sized = el("input", {type: "checkbox", id: "sized", change: () => change({sized: this.sized.checked})});
    const roofs: [Roofs, string][] = [
      ["both", "theoretical and measured"], ["theoretical", "theoretical"], ["measured", "measured"], ["none", "none"]
    ];
    this.roofs =
        el("select", {id: "roofs", change: () => change({roofs: this.roofs.value as Roofs})},
           ...roofs.map(([v, t]) => el("option", {value: v}, t)));
    this.machine =
        el("select",
           {id: "machine", change: () => change({machine: Number(this.machine.value), box: null, selected: []})});
    this.machineBox =
        el("label", {class: "group", "for": "machine"}, el("span", {class: "caption"}, "Machine"), this.machine);
    const find = el(
        "div", {class: "group"}, el("label", {class: "caption", "for": "search"}, "Search"), this.search, this.fault);
    const part =
        el("div", {class: "group"}, el("label", {class: "caption", "for": "share"}, "First by time"), this.share,
           this.shareText);
    const sizes = el("label", {class: "group", "for": "sized"}, this.sized, "size by time");
    this.ofKernels = [find, part, sizes];
    this.node.append(
        find, this.levels, this.precisions, this.phases, part,
        el("div", {class: "group"}, el("label", {class: "caption", "for": "roofs"}, "Roofs"), this.roofs),
        this.machineBox, sizes, this.only,
        el("button", {type: "button", class: "plain", id: "reset", click: reset}, "Reset all"));
  }

  focusSearch() { this.search.focus(); }

  update(s: State, view: View, rows: Row[], machine: number, found: Search) {
    if (document.activeElement !== this.search) this.search.value = s.search;
    for (const group of this.ofKernels) group.hidden = !rows.length;
    this.fault.textContent = found.fault ? "not yet a regular expression" : "";
    this.fault.title = found.fault;
    this.search.setAttribute("aria-invalid", found.fault ? "true" : "false");
    this.share.value = String(s.share);
    this.share.setAttribute("aria-valuetext", `the longest-running kernels that make up ${s.share} % of the time`);
    this.shareText.textContent = `${s.share} % of time`;
    this.sized.checked = s.sized;
    this.roofs.value = s.roofs;
    const machines = view.machines ?? [];
    this.machineBox.hidden = machines.length < 2;
    replace(this.machine, ...machines.map((m, i) => el("option", {value: i}, m.name || m.id)));
    this.machine.value = String(machine);
    this.updateChips(s, view, rows.filter((r) => r.machine === machine), machine);
  }

  private updateChips(s: State, view: View, rows: Row[], machine: number) {
    const unique = (list: string[]) => list.filter((v, i) => list.indexOf(v) === i);
    const focus = (document.activeElement as HTMLElement | null)?.dataset?.chip;
    const chart = view.charts?.[machine];
    const sloped = unique(chart?.roofs.filter((r) => r.kind === "slope").map((r) => r.what) ?? []);
    const levels = chart?.levels.length ? chart.levels : sloped;
    replace(
        this.levels,
        levels.length > 0 &&
            chips(
                "Levels", levels, s.hiddenLevels, (hiddenLevels) => this.change({hiddenLevels}),
                (l) =>
                    [el("span", {class: "shape", style: `color:var(--level-${l})`, "aria-hidden": "true"}, SHAPES[l]),
                     document.createTextNode(l)]));
    const order = [...Object.keys(this.data.pipes), "no FLOP", "unknown"];
    const precisions = unique(rows.map((r) => r.precision)).sort((a, b) => order.indexOf(a) - order.indexOf(b));
    replace(
        this.precisions,
        precisions.length > 1 &&
            chips(
                "Precision", precisions, s.hiddenPrecisions, (hiddenPrecisions) => this.change({hiddenPrecisions}),
                (p) => [document.createTextNode(precisionTitle(p, this.data))]));
    const phases = unique(rows.map((r) => r.phase)), short = withoutCommon(phases);
    replace(
        this.phases,
        phases.length > 1 &&
            chips(
                "Phase", phases, s.hiddenPhases, (hiddenPhases) => this.change({hiddenPhases}),
                (p) => [nameOf(short(p) || "(none)")]));
    replace(
        this.only,
        s.only !== "" &&
            el("button", {
              type: "button",
              class: "chip",
              "aria-pressed": "true",
              "data-chip": "only",
              click: () => this.change({only: ""})
            },
               `only ${{above: "above a roof", incomplete: "incomplete", unmatched: "without a partner"}[s.only]} ✕`));
    // The chips are made again; someone who toggles them with the keyboard must not lose the place.
    if (focus) this.node.querySelector<HTMLElement>(`[data-chip="${CSS.escape(focus)}"]`)?.focus({preventScroll: true});
  }
}
