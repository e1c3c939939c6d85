// The page: reads its data, keeps the state, and shows it. Everything that changes goes through set().
import {bars} from "./bars";
import {BoundColors} from "./bounds";
import {RooflineChart} from "./chart";
import {columns} from "./columns";
import {Controls} from "./controls";
import {curves} from "./curves";
import {decodeRows, fullest, NOTHING, type PageData, type Palette, type Row, type View} from "./data";
import {Tooltip, details, spoken} from "./details";
import {announce, applyTheme, el, replace} from "./dom";
import {save} from "./exports";
import {searchOf, shownRows, shownText} from "./filter";
import {Layout} from "./layout";
import {overview} from "./overview";
import {fromHash, initialState, picked, startAt, toHash, type State} from "./state";
import {strip, updateStrip} from "./strip";
import {TimelineChart} from "./timeline";
import {footer, machineCard, nothingToShow, originLegend, timeByBound, totals, warnings, zeroFlop} from "./summary";
import {compareCard} from "./compared";
import type {Design} from "./model";
import {Sliders} from "./sliders";
import {KernelTable} from "./table";
import {plainTable} from "./tables";
import {WhatIf} from "./whatif";

const REST = 120, NAMED = 12;  // ms until a slider is at rest; kernels with their name beside them
class Page {
  private state: State;
  private rows: Row[][];
  private colors: BoundColors;
  private tooltip = new Tooltip();
  private chart: RooflineChart;
  private table: KernelTable;
  private controls: Controls;
  private layout: Layout;
  private timeline: TimelineChart;
  private system = matchMedia("(prefers-color-scheme: dark)");
  private whatIf: WhatIf;
  private sliders: Sliders;
  private hover = (content: HTMLElement|null, x: number, y: number) =>
      (content ? this.tooltip.show(content, x, y) : this.tooltip.hide());
  private frame = 0;
  private resting = 0;

  constructor(private data: PageData) {
    startAt(data.overview ? data.views.length : 0);
    this.state = initialState();
    this.rows = data.views.map((v) => decodeRows(v, data.pipes));
    this.colors = new BoundColors(data);
    this.whatIf = new WhatIf(data, this.rows, () => {
      this.whatIf.compute(this.state.view, this.state.design);
      this.render();
    });
    this.chart = new RooflineChart({
      hovered: (row, x, y) => (row ? this.tooltip.show(this.details(row, false), x, y) : this.tooltip.hide()),
      picked: (row, add) => this.pick(row, add, true),
      moved: (box) => this.set({box}),
    });
    this.table = new KernelTable({
      sort: (key) => this.set(
          key === this.state.sort ? {ascending: !this.state.ascending} :
                                    {sort: key, ascending: key === "name" || key === "phase"}),
      pick: (row, add) => this.pick(row, add, false),
      hover: (row) => this.chart.emphasise(row),
    });
    this.controls = new Controls(data, (patch) => this.set(patch), () => this.resetAll());
    this.sliders = new Sliders(data, (design) => this.redesign(design));
    this.layout = new Layout(data, this.sliders.node, this.controls.node, this.chart.node, this.table.node, {
      view: (view) => this.toView(view),
      theme: () => this.set({theme: this.dark() ? "light" : "dark"}),
      save: (kind) => this.save(kind),
      zoom: (by) => this.chart.scale(by),
      home: () => this.chart.reset(),
    });
    this.timeline = new TimelineChart(data, this.colors, this.layout.strips, {
      hover: (content, x, y, row) => (this.hover(content, x, y), this.chart.emphasise(row)),
      pick: (row, add) => this.pick(row, add, true),
    });
    document.getElementById("app")!.append(this.tooltip.node);
    addEventListener("hashchange", () => this.readHash());
    this.system.addEventListener("change", () => this.render());
    addEventListener("keydown", (e) => this.key(e));
    this.readHash();
  }

  private dark(): boolean {
    if (this.state.theme) return this.state.theme === "dark";
    return this.data.dark || this.system.matches;
  }
  private palette(): Palette { return this.dark() ? this.data.palette.dark : this.data.palette.light; }
  private ownView(): View { return this.data.views[this.state.view] ?? NOTHING; }
  private view(): View { return this.whatIf.live?.view ?? this.ownView(); }
  private viewRows(): Row[] { return this.whatIf.live?.rows ?? this.rows[this.state.view] ?? []; }

  private machine(): number {
    const charts = this.view().charts ?? [];
    if (this.state.machine >= 0 && this.state.machine < charts.length) return this.state.machine;
    return fullest(charts);
  }

  private readHash() {
    const s = fromHash(location.hash), count = this.data.views.length;
    if (s.view >= count) s.view = initialState().view;
    s.selected = s.selected.filter((i) => i < (this.rows[s.view]?.length ?? 0));
    this.state = s;
    this.whatIf.compute(this.state.view, this.state.design);
    this.render();
  }

  // One evaluation for a frame, however many events a slider sends.
  private redesign(design: Design) {
    this.state = {...this.state, design};
    if (!this.frame)
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.set({design: this.state.design});
      });
  }

  private set(patch: Partial<State>) {
    this.state = {...this.state, ...patch};
    const hash = toHash(this.state);
    // Not a new entry in the history for each move of a slider; and no jump to an element of that name.
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
    const wasLive = !!this.whatIf.live;
    if ("design" in patch || "view" in patch) this.whatIf.compute(this.state.view, this.state.design);
    if (Object.keys(patch).length === 1 && "box" in patch)
      this.renderChart();
    else if (Object.keys(patch).length === 1 && "design" in patch && wasLive && this.whatIf.live)
      this.renderLive();
    else
      this.render();
  }

  private toView(view: number) {
    this.set({...initialState(), theme: this.state.theme, view});
    scrollTo(0, 0);
  }

  private resetAll() {
    this.set({...initialState(), view: this.state.view, theme: this.state.theme});
    announce("All filters reset");
  }

  private pick(row: Row|null, add: boolean, fromChart: boolean) {
    const now = this.state.selected;
    const selected = picked(now, row?.index ?? null, add);
    if (!row && !now.length) return;
    this.set({selected});
    if (row && selected.includes(row.index)) {
      announce(spoken(row, this.data));
      if (fromChart) this.table.reveal(row.index);
    } else
      announce("Released");
  }

  private details(row: Row, full: boolean): HTMLElement {
    const c = this.view().compared;
    return details(row, this.data, this.view().whole_time ?? 0, full, [c?.before ?? "", c?.after ?? ""]);
  }

  private save(kind: "svg"|"png"|"csv") {
    const scene = this.chart.currentScene();
    if (scene) save(kind, this.data, this.view(), scene, this.shown());
  }

  private shown(): Row[] { return shownRows(this.viewRows(), this.state, this.machine(), searchOf(this.state.search)); }

  // What is isolated and still shown: a search that leaves it out must not fade everything else.
  private isolated(rows: Row[]): Set<number> {
    const shown = new Set(rows.map((r) => r.index));
    return new Set(this.state.selected.filter((i) => shown.has(i)));
  }

  private renderChart(rows = this.shown()) {
    const chart = this.view().charts?.[this.machine()];
    if (!chart) return;
    const started = performance.now();
    const here = this.viewRows().filter((r) => r.machine === this.machine());
    this.chart.update(
        {
          chart,
          rows,
          hiddenLevels: new Set(this.state.hiddenLevels),
          roofs: this.state.roofs,
          before: this.view().compared?.roofs ?? [],
          beside: this.view().side_by_side,
          sized: this.state.sized,
          longest: here.reduce((most, r) => Math.max(most, r.time ?? 0), 0),
          selected: this.isolated(rows),
          colors: this.palette(),
          labels: NAMED,
        },
        {x0: chart.x[0], x1: chart.x[1], y0: chart.y[0], y1: chart.y[1]}, this.state.box);
    document.documentElement.dataset.drawMs = (performance.now() - started).toFixed(1);
  }

  private render() {
    const view = this.view(), all = this.viewRows(), machine = this.machine();
    applyTheme(this.palette(), this.dark());
    document.title = view.title && this.data.views.length > 1 ? `${view.title} · ${this.data.title}` : this.data.title;
    const hasRoofline = !!view.charts?.length;
    this.layout.showView(this.state.view, hasRoofline, all.length > 0, view.curves.length > 0, this.dark());
    this.renderHead(view);
    const rows = this.shown();
    if (hasRoofline) this.renderRoofline(view, all, rows, machine);
    this.timeline.show(view, all, rows, this.isolated(rows), this.palette(), this.dark());
    this.renderParts(view, all.filter((r) => r.machine === machine), machine);
    const home = this.data.overview && this.state.view === this.data.views.length;
    replace(
        this.layout.overview,
        home && overview(this.data, this.rows, this.colors, this.palette(), this.dark(), (view) => this.toView(view)));
    replace(this.layout.footer, footer(this.data, this.data.views[this.state.view]));
  }

  // What a slider moves, and nothing else: the whole page would take longer than a frame.
  private renderLive() {
    const started = performance.now(), view = this.view();
    this.renderHead(view);
    this.renderChart();
    if (!updateStrip(this.layout.strips.firstElementChild, view.layers, this.colors, this.palette(), this.dark()))
      this.renderStrips(view);
    // Table and sums follow when the slider rests.
    clearTimeout(this.resting);
    this.resting =
        window.setTimeout(() => this.renderRoofline(this.view(), this.viewRows(), this.shown(), this.machine()), REST);
    document.documentElement.dataset.frameMs = (performance.now() - started).toFixed(2);
  }

  private renderHead(view: View) {
    this.layout.subtitle.textContent = view.charts?.[this.machine()]?.subtitle ?? "";
    this.layout.showAnswer(view.answer ?? "", view.advice ?? []);
    this.sliders.show(this.ownView(), this.whatIf.model(this.state.view), this.whatIf.fault, this.state.design);
  }

  private renderRoofline(view: View, all: Row[], rows: Row[], machine: number) {
    const selected = this.isolated(rows);
    this.controls.update(this.state, view, all, machine, searchOf(this.state.search));
    this.renderChart(rows);
    this.table.update(rows, columns(this.data, view, all), this.state.sort, this.state.ascending, selected);
    this.layout.shown.textContent = shownText(view, all, rows, machine);
    const chosen = all.filter((r) => selected.has(r.index)).slice(0, 4);
    replace(
        this.layout.panel,
        ...(chosen.length ? chosen.map((r) => this.details(r, true)) :
                            [el("p", {class: "hint"},
                                "Point at a kernel to read it, click to isolate it. ? lists mouse and keys.")]),
        view.side_by_side && originLegend(), timeByBound(rows, this.data, this.colors, this.palette(), this.dark()));
  }

  private renderStrips(view: View) {
    const p = this.palette(), dark = this.dark();
    replace(
        this.layout.strips,
        view.layers.length > 0 && strip(view.layers, this.colors, p, dark, new Set(this.state.selected), {
          hover: this.hover,
          pick: (row, add) => {
            const r = this.viewRows()[row];
            if (r) this.pick(r, add, true);
          },
        }),
        view.compared && compareCard(view.compared));
  }

  private renderParts(view: View, rows: Row[], machine: number) {
    const p = this.palette(), dark = this.dark();
    const hover = this.hover;
    this.renderStrips(view);
    replace(
        this.layout.curves, ...view.curves.map((c, i) => curves(c, `curves-${i}`, p, dark, hover)),
        ...view.bars.map((b, i) => bars(b, `bars-${i}`, p, dark, this.colors, hover)));
    replace(this.layout.tables, ...view.tables.map((t, i) => plainTable(t, `table-${i}`, p, dark)));
    const facts = view.machines?.[machine];
    const hasFindings = rows.length > 0 || (view.notes?.length ?? 0) > 0;
    replace(
        this.layout.cards, rows.length > 0 && view.total && totals(view), rows.length > 0 && zeroFlop(view),
        view.charts && hasFindings && warnings(view, rows, machine, (only) => this.set({only})),
        facts && machineCard(facts));
  }

  private key(e: KeyboardEvent) {
    const target = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
    if (e.key === "/")
      (e.preventDefault(), this.controls.focusSearch());
    else if (e.key === "t")
      this.set({theme: this.dark() ? "light" : "dark"});
    else if (e.key === "?")
      this.layout.help.showModal();
    else if (
        e.key === "Escape" && this.state.selected.length && !this.layout.help.open && !this.chart.node.contains(target))
      this.set({selected: []});
  }
}

const data: PageData = JSON.parse(document.getElementById("data")!.textContent!);
if (data.views.length)
  new Page(data);
else
  document.getElementById("app")!.append(...nothingToShow(data));
