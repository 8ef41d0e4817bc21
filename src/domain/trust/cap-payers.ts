import type { Settlement } from '../settlement/settlement.ts'
import { normalizeWallet } from '../wash/wash-rules.ts'
import { TRUST } from './trust.ts'

const MICRO = 1_000_000
/** Below that the largest buyer is most of the business, and a stranger who joins them helps. */
const FEWEST_PAYERS = 3

/**
 * Of each payer ten settlements at most, the last ones, and ten dollars; and of three payers or more
 * none counts for more than all others together. Without that a rival takes most of a seller's score
 * away by one payment, as the largest buyer's share lowers it.
 *
 * @returns settlements with the dollars that count of each; in the order given
 */
export function capPayers(settlements: readonly Settlement[]): Settlement[] {
  const { perPayer } = TRUST
  const payers = [...Map.groupBy(settlements, ({ payer }) => normalizeWallet(payer)).values()].map(
    (own) => {
      const last = own.toSorted(byLast).slice(0, perPayer.settlements)
      const micros = last.reduce((sum, settlement) => sum + toMicros(settlement), 0)
      return { last, micros: Math.min(micros, perPayer.volumeUsd * MICRO) }
    },
  )
  const total = payers.reduce((sum, { micros }) => sum + micros, 0)
  const counted = new Map<Settlement, number>()
  for (const { last, micros } of payers) {
    let rest = payers.length < FEWEST_PAYERS ? micros : Math.min(micros, total - micros)
    for (const settlement of last) {
      const part = Math.min(rest, toMicros(settlement))
      rest -= part
      counted.set(settlement, part)
    }
  }
  return settlements.flatMap((settlement) => {
    const micros = counted.get(settlement)
    return micros === undefined ? [] : [{ ...settlement, usd: micros / MICRO }]
  })
}

/** The newest first; a fixed order for equal times. */
function byLast(a: Settlement, b: Settlement): number {
  if (a.at !== b.at) return b.at - a.at
  if (a.transaction !== b.transaction) return a.transaction < b.transaction ? -1 : 1
  return a.log_index - b.log_index
}

function toMicros({ usd }: Settlement): number {
  return Math.round(usd * MICRO)
}
