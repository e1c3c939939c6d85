// The head of a comparison: what was compared, how kernels were matched, and how each sum changed.
import type {Compared} from "./data";
import {el, nameOf} from "./dom";
import {card} from "./summary";

export function compareCard(c: Compared): HTMLElement {
  const head = ["Sum", c.before, c.after, c.is_prediction ? "error" : "change"];
  // A model beside a simulation is neither before nor after it.
  const title = !c.times ? "Side by side" : c.is_prediction ? "Prediction and measurement" : "Before and after";
  const sums = el(
      "table", {class: "small"}, el("thead", {}, el("tr", {}, ...head.map((t) => el("th", {scope: "col"}, nameOf(t))))),
      el("tbody", {},
         ...c.total.map(
             ([what, a, b, change]) => el(
                 "tr", {}, el("th", {scope: "row"}, what), el("td", {}, a), el("td", {}, b), el("td", {}, change)))));
  const legend = el(
      "p", {class: "note", id: "arrow-legend"}, "On the chart an arrow leads from the hollow mark, ", nameOf(c.before),
      ", to the filled one, ", nameOf(c.after), ".", c.roofs.length > 0 && " Dotted roofs are those of the first.");
  return card(
      "compared", title,
      el("div", {class: "halves"}, el("div", {}, ...c.summary.map((text) => el("p", {}, nameOf(text))), legend),
         el("div", {class: "wide", tabindex: 0, role: "region", "aria-label": "Sums, table"}, sums)));
}
