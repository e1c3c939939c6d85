// Elements from code. Text is always set as text, never as markup: names come from outside.

import type {Palette} from "./data";

type Child = Node|string|null|undefined|false;
type Attributes = Record<string, string|number|boolean|EventListener|undefined>;

export function el<K extends keyof HTMLElementTagNameMap>(
    tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function")
      node.addEventListener(key, value);
    else if (key === "style")  // as an attribute it would need a policy that lets any markup style itself
      node.style.cssText = String(value);
    else
      node.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children)
    if (child || child === "") node.append(child as Node | string);
  return node;
}

export function replace(node: Element, ...children: Child[]): void {
  node.replaceChildren(...(children.filter((c) => c) as (Node | string)[]));
}

// What changes at every frame is written only where it differs: an equal text would still be laid out again.
export function say(node: HTMLElement, text: string) {
  if (node.textContent !== text) node.textContent = text;
}

// A name from outside keeps its own direction and cannot turn that of the text around it.
export function nameOf(text: string): HTMLElement { return el("bdi", {}, text); }

export function download(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = el("a", {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

const NS = "http://www.w3.org/2000/svg";
export function svg(tag: string, attributes: Record<string, string|number>, ...children: (Node|string)[]): SVGElement {
  const node = document.createElementNS(NS, tag);
  for (const [k, v] of Object.entries(attributes)) node.setAttribute(k, String(v));
  node.append(...children);
  return node;
}

export function applyTheme(p: Palette, dark: boolean) {
  const root = document.documentElement;
  root.dataset.theme = dark ? "dark" : "light";
  for (const key of ["background", "ink", "muted", "faint", "grid", "minor", "frame", "warning"] as const)
    root.style.setProperty(`--${key}`, p[key]);
  for (const [level, color] of Object.entries(p.level)) root.style.setProperty(`--level-${level}`, color);
}

let spoken: HTMLElement|null = null;
// For screen readers: what a gesture or key did, where only pixels changed.
export function announce(text: string): void {
  if (!spoken) {
    spoken = el("div", {class: "spoken", role: "status", "aria-live": "polite"});
    document.body.append(spoken);
  }
  spoken.textContent = text;
}

// What a key does, unless it is typed into a field or belongs to the browser.
export function act(e: KeyboardEvent, actions: Record<string, () => void>) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test((e.target as HTMLElement).tagName);
  if (!e.ctrlKey && !e.metaKey && !e.altKey && !typing) actions[e.key]?.();
}
