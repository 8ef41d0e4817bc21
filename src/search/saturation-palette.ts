import { SEARCH_FIELDS, termSaturation } from '../domain/search-rank.ts'

/**
 * Saturations repeat: they depend on a term's frequency in each field and on the field's length
 * alone. Each combination is kept once; a posting holds its number. So a posting takes two or
 * three bytes instead of eight, and the score stays exact.
 */
export interface SaturationPalette {
  /** The number of a combination: frequencies and lengths in the order of `SEARCH_FIELDS`. */
  codeOf(frequencies: readonly number[], lengths: readonly number[]): number
  /**
   * Renumbers so that frequent combinations get small numbers, which take fewer bytes.
   * @returns for each number given out so far, the one to use
   */
  rank(): Uint32Array
  /** Three saturations for each number, after `rank`. */
  values(): Float32Array
}

/** Combinations are keyed by one number; no real field comes near this many pairs. */
const MAX_PAIRS = 2 ** 17

export function createSaturationPalette(averageLengths: readonly number[]): SaturationPalette {
  const fields = SEARCH_FIELDS.map(() => ({
    pairs: new Map<number, number>(),
    saturations: [0],
  }))
  const codes = new Map<number, number>()
  const combinations: number[][] = []
  const uses: number[] = []
  const pairOf = (field: number, frequency: number, length: number) => {
    const entry = fields[field]
    if (entry === undefined || frequency === 0) return 0
    const key = length * 256 + frequency
    const known = entry.pairs.get(key)
    if (known !== undefined) return known
    const pair = entry.saturations.length
    if (pair >= MAX_PAIRS) throw new Error('A search field has too many different lengths.')
    entry.pairs.set(key, pair)
    entry.saturations.push(termSaturation(frequency, length, averageLengths[field] ?? 0))
    return pair
  }
  let order: number[] = []
  return {
    codeOf(frequencies, lengths) {
      const pairs = frequencies.map((frequency, at) => pairOf(at, frequency, lengths[at] ?? 0))
      const key = pairs.reduce((sum, pair) => sum * MAX_PAIRS + pair, 0)
      let code = codes.get(key)
      if (code === undefined) {
        code = combinations.length
        codes.set(key, code)
        combinations.push(pairs)
        uses.push(0)
      }
      uses[code] = (uses[code] ?? 0) + 1
      return code
    },
    rank() {
      order = uses.map((_, code) => code).sort((a, b) => (uses[b] ?? 0) - (uses[a] ?? 0) || a - b)
      const ranks = new Uint32Array(order.length)
      order.forEach((code, rank) => {
        ranks[code] = rank
      })
      return ranks
    },
    values: () =>
      Float32Array.from(
        order.flatMap((code) =>
          (combinations[code] ?? []).map((pair, field) => fields[field]?.saturations[pair] ?? 0),
        ),
      ),
  }
}
