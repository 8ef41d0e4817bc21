import { SEARCH_FIELDS, termSaturation } from '../domain/search/search-rank.ts'
import {
  type Collected,
  FREQUENCY_BITS,
  frequencyIn,
  type Statistics,
} from './collected-postings.ts'
import { createNumberList } from './number-list.ts'
import { createPairNumbers } from './pair-numbers.ts'

/**
 * Saturations repeat: they depend on a term's frequency in each field and on the field's length
 * alone. Each combination is kept once; a posting holds its number. So a posting takes two or
 * three bytes instead of eight, and the score stays exact.
 */
export interface SaturationPalette {
  /**
   * The number of a posting's combination.
   * @param frequencies eight bits for each field, see `Collected`
   */
  codeOf(frequencies: number, row: number): number
  /**
   * Renumbers so that frequent combinations get small numbers, which take fewer bytes.
   * @returns for each number given out so far, the one to use
   */
  rank(): Uint32Array
  /** Three saturations for each number, after `rank`. */
  values(): Float32Array
}

export function createSaturationPalette(
  { lengths }: Collected,
  { averageLength }: Statistics,
): SaturationPalette {
  const fields = SEARCH_FIELDS.map((field, at) =>
    createFieldSaturations(at * FREQUENCY_BITS, lengths[field], averageLength[field]),
  )
  /** Each field's number after the first joins that of the fields before it. */
  const joined = fields.slice(1).map(() => createPairNumbers())
  const combinations: number[][] = []
  const uses = createNumberList()
  let order: number[] = []
  return {
    codeOf(frequencies, row) {
      let code = fields[0]?.numberOf(frequencies, row) ?? 0
      for (let at = 0; at < joined.length; at += 1) {
        const own = fields[at + 1]?.numberOf(frequencies, row) ?? 0
        code = joined[at]?.numberOf(code, own) ?? 0
      }
      if (code === combinations.length)
        combinations.push(fields.map((field) => field.numberOf(frequencies, row)))
      uses.set(code, uses.get(code) + 1)
      return code
    },
    rank() {
      order = [...combinations.keys()].sort((a, b) => uses.get(b) - uses.get(a) || a - b)
      const ranks = new Uint32Array(order.length)
      order.forEach((code, rank) => {
        ranks[code] = rank
      })
      return ranks
    },
    values: () =>
      Float32Array.from(
        order.flatMap((code) =>
          fields.map(({ saturations }, at) => saturations[combinations[code]?.[at] ?? 0] ?? 0),
        ),
      ),
  }
}

/** The different saturations of one field, numbered from 1; 0 is for a term it doesn't hold. */
function createFieldSaturations(shift: number, lengths: readonly number[], averageLength: number) {
  const numbers = createPairNumbers()
  const saturations = [0]
  return {
    saturations,
    numberOf(frequencies: number, row: number): number {
      const frequency = frequencyIn(frequencies, shift)
      if (frequency === 0) return 0
      const length = lengths[row] ?? 0
      const number = numbers.numberOf(frequency, length) + 1
      if (number === saturations.length)
        saturations.push(termSaturation(frequency, length, averageLength))
      return number
    },
  }
}
