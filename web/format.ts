// Numbers as src/report spells them: at most three digits and a decimal prefix, percent with a blank before the sign.
import type {Num} from "./data";

export const NONE = "–";
const PREFIXES: [number, string][] =
    [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "u"], [1e-9, "n"]];
const BINARY: [number, string][] = [[2 ** 40, "Ti"], [2 ** 30, "Gi"], [2 ** 20, "Mi"], [2 ** 10, "Ki"], [1, ""]];

// Fewest digits that hold `digits` significant ones: 897, 15.7, 1.2.
function trimmed(value: number, digits: number): string { return String(Number(value.toPrecision(digits))); }

export function quantity(value: Num|undefined, unit: string, digits = 3, binary = false): string {
  if (value === null || value === undefined || !isFinite(value)) return NONE;
  if (value === 0) return unit ? `0 ${unit}` : "0";
  const rounded = Number(value.toPrecision(digits));  // 999.6 is 1 k, not 1000
  // Seconds have no kilo: 3600 s is what people say.
  const usable = binary ? BINARY : PREFIXES.filter(([f]) => (unit === "s" ? f <= 1 : unit === "s" || f >= 1));
  const [factor, prefix] = usable.find(([f]) => Math.abs(rounded) >= f) ?? usable[usable.length - 1];
  const text = trimmed(value / factor, digits);
  return `${text} ${prefix}${unit}`.trim();
}

export function plain(value: number): string {
  if (value === 0) return "0";
  const a = Math.abs(value);
  return a >= 1e6 || a < 1e-4 ? value.toExponential(0).replace("e+", "e") : trimmed(value, 4);
}

export function intensity(value: Num|undefined): string {
  if (value === null || value === undefined || !isFinite(value)) return NONE;
  const a = Math.abs(value);
  if (a === 0) return "0";
  if (a >= 1e6 || a < 0.0005) return value.toExponential(1).replace("e+", "e+0").replace(/e([+-])0?(\d\d)$/, "e$1$2");
  return value.toFixed(Math.min(3, Math.max(0, 2 - Math.floor(Math.log10(a)))));
}

export function percent(fraction: Num|undefined, digits = 1): string {
  if (fraction === null || fraction === undefined || !isFinite(fraction)) return NONE;
  const least = 10 ** -digits;
  if (fraction > 0 && 100 * fraction < least / 2) return `<${least.toFixed(digits)} %`;
  return `${(100 * fraction).toFixed(digits)} %`;
}

export function change(ratio: Num|undefined): string {
  if (ratio === null || ratio === undefined || !isFinite(ratio)) return NONE;
  if (ratio >= 10 || (ratio > 0 && ratio <= 0.1)) return `×${trimmed(ratio, 3)}`;
  const p = 100 * (ratio - 1);
  return `${p > 0 ? "+" : p < 0 ? "−" : "±"}${Math.abs(p).toFixed(1)} %`;
}

export function count(n: number): string { return String(n).replace(/\B(?=(\d{3})+$)/g, ","); }

export function plural(n: number, noun: string): string {
  const many = noun.endsWith("ch") ? `${noun}es` : `${noun}s`;
  return `${count(n)} ${n === 1 ? noun : many}`;
}
