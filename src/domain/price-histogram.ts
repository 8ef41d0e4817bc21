/** One bar: how many prices lie from `from` (included) up to `to` (excluded), US dollars. */
export interface PriceBin {
  from: number
  to: number
  count: number
}

/** Bins per factor of ten: prices of calls span a hundredth of a cent to tens of dollars. */
const BINS_PER_DECADE = 2

/**
 * Prices on a logarithmic scale, from the lowest to the highest without a gap. Free calls (0) have
 * no place on such a scale and stand in a count of their own.
 */
export function toPriceHistogram(prices: readonly number[]): { free: number; bins: PriceBin[] } {
  const paid = prices.filter((price) => price > 0)
  const free = prices.length - paid.length
  if (paid.length === 0) return { free, bins: [] }
  const steps = paid.map(toStep)
  const first = steps.reduce((a, b) => Math.min(a, b))
  const last = steps.reduce((a, b) => Math.max(a, b))
  const bins = Array.from({ length: last - first + 1 }, (_, index) => ({
    from: toUsdOfStep(first + index),
    to: toUsdOfStep(first + index + 1),
    count: 0,
  }))
  for (const step of steps) {
    const bin = bins[step - first]
    if (bin !== undefined) bin.count += 1
  }
  return { free, bins }
}

/** The epsilon keeps $0.001 in the bin that starts at $0.001: log10(0.001) is not exactly −3. */
function toStep(price: number): number {
  return Math.floor(Math.log10(price) * BINS_PER_DECADE + 1e-9)
}

/** Edges rounded to what a person would write: 0.001, 0.003, 0.01, 0.03. */
function toUsdOfStep(step: number): number {
  return Number((10 ** (step / BINS_PER_DECADE)).toPrecision(1))
}
