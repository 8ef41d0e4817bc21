import { amountOf, toAddress } from '../../src/domain/settlement/schemes/evm-log.ts'
import type { Transfer } from '../../src/domain/settlement/settlement.ts'
import { WASH } from '../../src/domain/wash/wash-rules.ts'
import { largestOf } from '../../src/domain/wire/extremes.ts'
import {
  type EvmChain,
  needBlock,
  readTimes,
  type TimedLog,
  timeOf,
  toTransfer,
} from '../settlements/evm-chain.ts'
import { inPieces } from '../store/store.ts'
import type { ChainWork } from './meter-world.ts'

/** Transfers kept from one wallet to one payer: the last, and the largest before it. */
const MOST_OF_ONE = 3

/** Funding wallets kept for one payer: a rival's dust must not push out the largest ones. */
const MOST_FUNDERS = 5

/** Transfers to payers before they paid: by payer and sender, a few in chain order. */
export type Funding = Map<string, Map<string, TimedLog[]>>

export function addFunding(funding: Funding, log: TimedLog): void {
  const [sender, payer] = [toAddress(log.topics[1]), toAddress(log.topics[2])]
  const senders = funding.get(payer) ?? new Map<string, TimedLog[]>()
  const given = [...(senders.get(sender) ?? []), log]
  senders.set(sender, given.length > MOST_OF_ONE ? withoutSmallest(given) : given)
  funding.set(payer, senders)
}

/** The last one is always kept: it gives the time. */
function withoutSmallest(given: readonly TimedLog[]): TimedLog[] {
  const smallest = given
    .slice(0, -1)
    .reduce((one, other) => (amountOf(other) < amountOf(one) ? other : one))
  return given.filter((log) => log !== smallest)
}

function sumOf(given: readonly TimedLog[]): bigint {
  return given.reduce((sum, log) => sum + amountOf(log), 0n)
}

/**
 * The transfers worth keeping; and whether wallets that had the seller's money, or funded many
 * payers, are contracts.
 */
export async function toFundingTransfers(
  work: ChainWork,
  chain: EvmChain,
  funding: Funding,
): Promise<Transfer[]> {
  const senders = new Set([...funding.values()].flatMap((of) => [...of.keys()]))
  const paidBySeller = await findPaidBySellers(work, [...senders])
  const kept = [...funding.values()].flatMap((of) => {
    const most = [...of].toSorted(([, one], [, other]) => Number(sumOf(other) - sumOf(one)))
    return most.flatMap(([wallet, given], place) =>
      place < MOST_FUNDERS || paidBySeller.has(wallet) ? given : [],
    )
  })
  if (kept.length === 0) return []
  const codes = new Map<string, boolean>()
  const manyHanded = new Set(findManyHanded(kept))
  for (const wallet of new Set(kept.map(({ topics }) => toAddress(topics[1]))))
    if (paidBySeller.has(wallet) || manyHanded.has(wallet))
      codes.set(wallet, await chain.hasCode(wallet))
  const last = largestOf(kept.map(({ blockNumber }) => blockNumber))
  const times = await readTimes(chain, kept, await needBlock(chain, last))
  return kept.map((log) => {
    const transfer = toTransfer(log, work.network, timeOf(log, times))
    return { ...transfer, from_contract: codes.get(transfer.from) ?? null }
  })
}

/** Half of the smallest crowd that can be a burst: their funder may be one party or a bridge. */
const MANY = Math.ceil(WASH.burst.cohort * WASH.burst.funderShare)
/** How many of those are looked up together. */
const MOST_ASKED = 50

/** Wallets that funded the most payers. */
function findManyHanded(given: readonly TimedLog[]): string[] {
  const bySender = Map.groupBy(given, ({ topics }) => toAddress(topics[1]))
  return [...bySender]
    .map(([wallet, own]) => ({ wallet, payers: new Set(own.map(({ topics }) => topics[2])).size }))
    .filter(({ payers }) => payers >= MANY)
    .sort((one, other) => other.payers - one.payers)
    .slice(0, MOST_ASKED)
    .map(({ wallet }) => wallet)
}

/** Of some wallets, the payouts we read and those that one of them sent money to. */
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
