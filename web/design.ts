// What the reader set on the panel "What if", and its spelling in the URL's hash.
export const FACTORS = ["sms", "clock", "tensor", "l2.capacity", "l2.bandwidth", "dram.bandwidth"] as const;
export type Factor = typeof FACTORS[number];
// What a network that the page can make again takes; 0: as it is.
export const SIZES = ["batch", "sequence", "context"] as const;
export type Size = typeof SIZES[number];
// Factors on the machine, sizes of the network, a factor on the batch of layers that the page cannot make again, a
// precision ("": the page's own), and another GPU of the catalogue ("": the page's own).
export type Design = Record<Factor, number>&Record<Size, number>&{
  times: number;
  precision: string;
  gpu: string
};

export const startDesign = (): Design => ({
  sms: 1,
  clock: 1,
  tensor: 1,
  "l2.capacity": 1,
  "l2.bandwidth": 1,
  "dram.bandwidth": 1,
  batch: 0,
  sequence: 0,
  context: 0,
  times: 1,
  precision: "",
  gpu: ""
});
// Whether the work is the page's own, on whatever machine.
export const isOwnWork = (d: Design) => d.times === 1 && !d.precision && SIZES.every((s) => !d[s]);
export const isStart = (d: Design) => !d.gpu && isOwnWork(d) && FACTORS.every((f) => d[f] === 1);

export function designToHash(d: Design, p: URLSearchParams) {
  for (const f of FACTORS)
    if (d[f] !== 1) p.set(f, String(d[f]));
  for (const s of SIZES)
    if (d[s]) p.set(s, String(d[s]));
  if (d.times !== 1) p.set("batch-times", String(d.times));
  if (d.precision) p.set("precision", d.precision);
  if (d.gpu) p.set("gpu", d.gpu);
}

// What is not understood is left at its start value.
export function designFromHash(p: URLSearchParams): Design {
  const d = startDesign();
  const factor = (text: string|null) => {
    const n = Number(text);
    return text !== null && n >= 1 / 64 && n <= 64 ? n : 1;
  };
  for (const f of FACTORS) d[f] = factor(p.get(f));
  for (const s of SIZES) {
    const n = Number(p.get(s));
    d[s] = Number.isInteger(n) && n > 0 && n <= 1 << 20 ? n : 0;
  }
  d.times = factor(p.get("batch-times"));
  d.precision = p.get("precision") ?? "";
  d.gpu = p.get("gpu") ?? "";
  return d;
}
