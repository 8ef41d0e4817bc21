import { toAddress } from '../../src/domain/settlement/schemes/evm-log.ts'
import type { Transfer } from '../../src/domain/settlement/settlement.ts'
import { largestOf } from '../../src/domain/wire/extremes.ts'
import { type EvmChain, needBlock, readTimes, type TimedLog, timeOf } from './evm-chain.ts'
import { inPieces } from './meter-rows.ts'
import type { ChainWork } from './meter-world.ts'
import { toTransfer } from './read-range.ts'

/** The last transfers kept of one wallet to one payer. */
const MOST_OF_ONE = 3
/** Wallets kept that funded one payer: the last that did, beside those that had the seller's money. */
const MOST_FUNDERS = 5

/** What came to payers before they paid: by payer, by who sent it, the last few in chain order. */
export type Funding = Map<string, Map<string, TimedLog[]>>

export function addFunding(funding: Funding, log: TimedLog): void {
  const [sender, payer] = [toAddress(log.topics[1]), toAddress(log.topics[2])]
  const senders = funding.get(payer) ?? new Map<string, TimedLog[]>()
  const given = senders.get(sender) ?? []
  // Deleted first, so that the sender's place is that of its last transfer.
  senders.delete(sender)
  senders.set(sender, [...given, log].slice(-MOST_OF_ONE))
  funding.set(payer, senders)
}

/** Which of it is worth keeping, as transfers; of wallets that had the seller's money, whether they are code. */
export async function toFundingTransfers(
  work: ChainWork,
  chain: EvmChain,
  funding: Funding,
): Promise<Transfer[]> {
  const senders = new Set([...funding.values()].flatMap((of) => [...of.keys()]))
  const paidBySeller = await findPaidBySellers(work, [...senders])
  const kept = [...funding.values()].flatMap((of) => {
    const last = [...of.keys()].slice(-MOST_FUNDERS)
    const wallets = new Set([...last, ...[...of.keys()].filter((one) => paidBySeller.has(one))])
    return [...wallets].flatMap((wallet) => of.get(wallet) ?? [])
  })
  if (kept.length === 0) return []
  const codes = new Map<string, boolean>()
  for (const wallet of new Set(kept.map(({ topics }) => toAddress(topics[1]))))
    if (paidBySeller.has(wallet)) codes.set(wallet, await chain.hasCode(wallet))
  const last = largestOf(kept.map(({ blockNumber }) => blockNumber))
  const times = await readTimes(chain, kept, await needBlock(chain, last))
  return kept.map((log) => {
    const transfer = toTransfer(log, work.network, timeOf(log, times))
    return { ...transfer, from_contract: codes.get(transfer.from) ?? null }
  })
}

/** Of some wallets, the payouts we read and those that a payout sent money to. */
async function findPaidBySellers(
  { store, network, payouts }: ChainWork,
  wallets: readonly string[],
): Promise<Set<string>> {
  const sellers = new Set(payouts.map(({ payout }) => payout))
  const found = new Set(wallets.filter((wallet) => sellers.has(wallet)))
  for (const some of inPieces(wallets)) {
    const rows = await store.db
      .selectFrom('wallet_transfer')
      .select(['sender', 'receiver'])
      .distinct()
      .where('network', '=', network)
      .where('receiver', 'in', some)
      .execute()
    for (const { sender, receiver } of rows) if (sellers.has(sender)) found.add(receiver)
  }
  return found
}
