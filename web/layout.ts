// The parts of the page that stand still: heading, tabs, buttons, help, and the places that views fill.
import type {PageData} from "./data";
import {el, say} from "./dom";
import {plural} from "./format";

export interface LayoutEvents {
  view(index: number): void;
  theme(): void;
  save(kind: "svg"|"png"|"csv"): void;
  zoom(by: number): void;
  home(): void;
}

const KEYS: [string, string][] = [
  ["drag, arrow keys", "pan"],
  ["wheel, pinch, + and −", "zoom"],
  ["double click, 0", "whole view"],
  ["click, n and p", "isolate a kernel; the next, the previous"],
  ["Shift or Ctrl with click", "isolate several"],
  ["Esc", "release"],
  ["/", "search"],
  ["Alt with click on a filter", "only this one"],
  ["t", "light or dark"],
  ["?", "this list"],
];

export class Layout {
  readonly tabs: HTMLButtonElement[];
  readonly subtitle = el("p", {class: "subtitle"});
  readonly answer = el("p", {class: "answer", id: "answer"});
  readonly advice = el("details", {class: "advice", id: "advice"});
  readonly shown = el("p", {class: "shown", id: "shown", role: "status"});
  readonly chartBox = el("div", {class: "chart-box"});
  readonly panel = el("aside", {class: "panel", "aria-label": "Chosen kernel and bottlenecks", tabindex: 0});
  readonly strips = el("div", {class: "strips"});
  readonly tableBox = el("section", {class: "table-box", "aria-label": "Table of kernels"});
  readonly cards = el("div", {class: "cards"});
  readonly curves = el("div", {class: "cards curves"});
  readonly tables = el("div", {class: "tables"});
  readonly overview = el("div", {class: "overview"});
  readonly footer = el("div", {});
  readonly roofline = el("div", {class: "roofline-part"});
  readonly main = el("main", {});
  readonly help: HTMLDialogElement;
  private advised: string[] = [];
  private saves: HTMLElement;
  private themeButton: HTMLButtonElement;

  // The overview, if there is one, is the view behind the last; its tab stands first.
  constructor(
      data: PageData, sliders: HTMLElement, controls: HTMLElement, chart: HTMLElement, table: HTMLElement,
      events: LayoutEvents) {
    const button = (id: string, text: string, label: string, click: () => void) =>
        el("button", {type: "button", id, "aria-label": label, title: label, click}, text);
    const titles = [...data.views.map((v, i) => v.title || `View ${i + 1}`), ...(data.overview ? ["Overview"] : [])];
    this.tabs = titles.map(
        (title, i) =>
            el("button", {
              type: "button",
              role: "tab",
              id: `tab-${i}`,
              "aria-controls": "main",
              title: title.slice(0, 200),
              click: () => events.view(i),
            },
               title));
    this.help =
        el("dialog", {id: "help", "aria-labelledby": "help-title"}, el("h2", {id: "help-title"}, "Mouse and keys"),
           el("dl", {}, ...KEYS.flatMap(([k, what]) => [el("dt", {}, k), el("dd", {}, what)])),
           el("button", {type: "button", click: () => this.help.close()}, "Close"));
    this.saves =
        el("div", {class: "saves", role: "group", "aria-label": "Save the current view"},
           button("save-svg", "SVG", "Save the chart as SVG", () => events.save("svg")),
           button("save-png", "PNG", "Save the chart as PNG", () => events.save("png")),
           button("save-csv", "CSV", "Save the rows shown as CSV", () => events.save("csv")));
    this.themeButton = button("theme", "◐", "Light or dark", events.theme);
    const tablist = el("div", {role: "tablist", class: "tabs", "aria-label": "Views"}, ...this.order());
    tablist.hidden = titles.length < 2;
    tablist.addEventListener("keydown", (e) => this.tabKey(e));
    const zoomer =
        el("div", {class: "zoomer", role: "group", "aria-label": "Zoom"},
           button("zoom-in", "+", "Zoom in", () => events.zoom(1.4)),
           button("zoom-out", "−", "Zoom out", () => events.zoom(1 / 1.4)),
           button("zoom-home", "⌂", "Whole view", events.home));
    const keys =
        el("p", {class: "spoken", id: "chart-keys"},
           "Arrow keys pan, plus and minus zoom, 0 shows all, n and p go through the kernels by falling time, " +
               "Escape releases. The table below has the same rows.");
    this.chartBox.append(chart, zoomer, keys);
    this.tableBox.append(this.shown, table);
    const filters =
        el("details", {class: "filters", open: !matchMedia("(max-width: 600px)").matches}, el("summary", {}, "Filters"),
           controls);
    this.roofline.append(filters, el("div", {class: "chart-row"}, this.chartBox, this.panel), this.tableBox);
    this.main.id = "main";
    this.main.tabIndex = -1;
    this.main.append(this.overview, sliders, this.strips, this.roofline, this.curves, this.tables, this.cards);
    document.getElementById("app")!.append(
        el("a", {
          class: "skip",
          href: "#main",
          click: ((e: Event) => {
                   e.preventDefault();
                   this.main.focus();
                 }) as EventListener
        },
           "Skip to the chart"),
        el("header", {},
           el("div", {class: "heading"}, el("h1", {}, data.title || "Hierarchical Roofline"), this.subtitle,
              this.answer, this.advice),
           el("div", {class: "buttons"}, this.saves, this.themeButton,
              button("help-button", "?", "Mouse and keys", () => this.help.showModal())),
           tablist),
        this.main, this.footer, this.help);
  }

  showAnswer(answer: string, lines: string[]) {
    say(this.answer, answer);
    this.answer.hidden = !answer;
    this.advice.hidden = lines.length === 0;
    if (this.advised.join() === lines.join()) return;
    this.advised = lines;
    this.advice.replaceChildren(
        el("summary", {}, `What to try: ${plural(lines.length, "suggestion")}`),
        el("ul", {}, ...lines.map((line) => el("li", {}, line))));
  }

  private order(): HTMLButtonElement[] {
    const last = this.tabs[this.tabs.length - 1];
    return last?.textContent === "Overview" ? [last, ...this.tabs.slice(0, -1)] : this.tabs;
  }

  // A machine alone has no kernels: its Roofline stands beside the sweeps, and what is about kernels is not shown.
  showView(index: number, hasRoofline: boolean, hasRows: boolean, hasCurves: boolean, isDark: boolean) {
    this.tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", i === index ? "true" : "false");
      tab.tabIndex = i === index ? 0 : -1;
    });
    this.roofline.hidden = !hasRoofline;
    this.panel.hidden = this.tableBox.hidden = !hasRows;
    this.main.classList.toggle("machine-alone", hasRoofline && !hasRows && hasCurves);
    this.saves.querySelector<HTMLElement>("#save-csv")!.hidden = !hasRows;
    this.saves.hidden = !hasRoofline;
    this.themeButton.setAttribute("aria-pressed", isDark ? "true" : "false");
  }

  private tabKey(e: KeyboardEvent) {
    const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    const tabs = this.order(), at = tabs.findIndex((t) => t.getAttribute("aria-selected") === "true");
    const next = tabs[(at + by + tabs.length) % tabs.length];
    next.click();
    next.focus();
  }
}
