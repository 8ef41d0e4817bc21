/** One bar: how many prices are from `from` (included) up to `to` (excluded), US dollars. */
export interface PriceBin {
  from: number
  to: number
  count: number
}

/** Two bins for each factor of ten, split at 3: prices span a hundredth of a cent to tens of dollars. */
const SPLIT = 3

/**
 * Prices on a logarithmic scale, from the lowest to the highest without a gap. Free calls (0) don't
 * fit on such a scale and are counted separately.
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

/** A phone's width holds this many prices side by side, however long they are. */
const MAX_LABELS = 5

/**
 * Which edges of the bins get a label: the left edge of each bin, or null. Only as many as fit
 * without touching, at even distances, whole powers of ten where possible.
 */
export function toEdgeLabels(bins: readonly PriceBin[]): (number | null)[] {
  if (bins.length <= MAX_LABELS) return bins.map(({ from }) => from)
  const isPower = ({ from }: PriceBin) => from.toExponential().startsWith('1e')
  const first = bins.findIndex(isPower)
  const stride = 2 * Math.max(1, Math.ceil(bins.length / 2 / MAX_LABELS))
  return bins.map((bin, index) =>
    isPower(bin) && (index - first) % stride === 0 ? bin.from : null,
  )
}

/**
 * The bin of a price, counted from $1. The edges are the ones printed: a price of $0.03 belongs to
 * the bin that starts at 0.03. The epsilons let it: log10(0.001) is not exactly −3.
 */
function toStep(price: number): number {
  const decade = Math.floor(Math.log10(price) + 1e-9)
  return 2 * decade + (price / 10 ** decade >= SPLIT - 1e-9 ? 1 : 0)
}

/** 0.001, 0.003, 0.01, 0.03: what a person would write. */
function toUsdOfStep(step: number): number {
  const decade = Math.floor(step / 2)
  return Number(`${step % 2 === 0 ? 1 : SPLIT}e${decade}`)
}
