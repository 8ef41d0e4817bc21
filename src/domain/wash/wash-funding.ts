import type { Settlement, Transfer } from '../settlement/settlement.ts'
import {
  findFirstPayments,
  findFunders,
  isSurelyBefore,
  sumOf,
  type TransferIndex,
} from './chain-order.ts'
import { normalizeWallet, WASH } from './wash-rules.ts'

const DAY_MS = 86_400_000

/**
 * Payers that had money of the seller's before they first paid: sent to them, however little, or to
 * one wallet that afterwards gave them at least what they first paid, and most of what they had.
 * Less than most proves nothing: a rival that the seller once paid could give it to his buyers.
 *
 * Known limits: not through two wallets or more, not through a contract (exchanges, pools and bridges
 * pass on everybody's money), not in another token, and not longer ago than `WASH.hopDays`.
 */
export function findFunded(
  settlements: readonly Settlement[],
  own: ReadonlySet<string>,
  transfers: TransferIndex,
): Set<string> {
  const funded = new Set<string>()
  for (const [wallet, first] of findFirstPayments(settlements)) {
    const received = transfers.to(wallet).filter((transfer) => isSurelyBefore(transfer, first))
    const had = sumOf(received)
    const passed = [...findFunders(first, transfers).values()].filter(
      (given) => sumOf(given) * 2n >= had,
    )
    if (
      received.some((transfer) => isOwn(transfer, own)) ||
      passed.flat().some((transfer) => isHop(transfer, first, own, transfers))
    )
      funded.add(wallet)
  }
  return funded
}

function isOwn({ from }: Transfer, own: ReadonlySet<string>): boolean {
  return own.has(normalizeWallet(from))
}

/** Whether who sent this had it, within the look-back, of the seller. */
function isHop(
  passed: Transfer,
  first: Settlement,
  own: ReadonlySet<string>,
  transfers: TransferIndex,
): boolean {
  const since = first.at - WASH.hopDays * DAY_MS
  if (passed.from_contract === true || passed.at < since) return false
  return transfers
    .to(normalizeWallet(passed.from))
    .some((given) => given.at >= since && isOwn(given, own) && isSurelyBefore(given, passed))
}
