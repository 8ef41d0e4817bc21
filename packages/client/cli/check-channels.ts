import {
  type ChannelLog,
  type ChannelRule,
  CLAIMING,
  countClaims,
  isDeposit,
  keepProved,
} from '../../../src/domain/settlement/schemes/channel-rule.ts'
import { type EvmLog, toTopic } from '../../../src/domain/settlement/schemes/evm-log.ts'
import { CHANNEL_RULES } from '../../../src/domain/settlement/schemes/scheme-rules.ts'
import type { LedgerPayment } from '../../../src/domain/trust/ledger-payment.ts'
import {
  type Ask,
  BLOCKS_AT_ONCE,
  type BlockRange,
  placeOf,
  readLogs,
  readReceipt,
} from './ask-node.ts'

/**
 * Payments out of channels and escrows: no transfer shows them, so all events of their channel are
 * read, from its opening on, and counted as the meter counts them.
 *
 * Known limit: a channel that was opened long ago takes a request for each 9,000 blocks since.
 */
export interface Claim {
  rule: ChannelRule
  log: EvmLog
  channel: string
  /** Its row in the ledger; null if missing. */
  row: LedgerPayment | null
}

/** The claim in a log of a scheme's contract; null for every other log. */
export function readClaim(rule: ChannelRule, log: EvmLog, row: LedgerPayment): Claim | null {
  const event = rule.contracts.includes(log.address) ? rule.read(log, row.asset) : null
  return event !== null && CLAIMING.has(event.kind)
    ? { rule, log, channel: event.channel, row }
    : null
}

interface Chain {
  ask: Ask
  coin: string
  head: number
  /** The last block that the rows surely cover. */
  newest: number
}

/** Rows that differ from what a contract paid, and payments that no row has. */
export async function findChannelFaults(chain: Chain, claims: readonly Claim[]): Promise<string[]> {
  const faults: string[] = []
  for (const [rule, own] of Map.groupBy(claims, (claim) => claim.rule)) {
    const events = await readHistory(chain, rule, own)
    const histories = Map.groupBy(events, ({ event }) => event.channel)
    for (const claim of own) {
      const fault = findFault(claim, histories.get(claim.channel) ?? [], chain.newest)
      if (fault !== null) faults.push(`${placeOf(claim.log)}: ${fault}`)
    }
  }
  return faults
}

function findFault(
  { log, row }: Claim,
  history: readonly ChannelLog<EvmLog>[],
  newest: number,
): string | null {
  const opened = history.find(({ event }) => event.payer !== null)?.event
  const claim = history.find((one) => placeOf(one.log) === placeOf(log))?.event
  if (opened === undefined || claim === undefined)
    return row === null ? null : 'nobody opened its channel'
  // Later refunds reduce it: the rows may or may not include them.
  const read = history.filter((one) => one.log.blockNumber <= newest).length
  const ends = [
    read,
    ...history.flatMap(({ event }, n) => (n >= read && event.kind === 'returned' ? [n + 1] : [])),
  ]
  const amounts = ends.map((end) => {
    const known = history.slice(0, end).map(({ event }) => event)
    return countClaims(known).get(claim) ?? 0n
  })
  if (row === null) return amounts.includes(0n) ? null : 'the rows do not have this payment'
  if (opened.payer !== row.payer || opened.payee !== row.payee)
    return 'its channel has another payer or payee'
  return amounts.includes(BigInt(row.amount)) ? null : 'its channel paid another amount'
}

/** Events of the channels of some claims, except deposits that were not their payer's. */
async function readHistory(
  chain: Chain,
  rule: ChannelRule,
  claims: readonly Claim[],
): Promise<ChannelLog<EvmLog>[]> {
  const read = await readBack(chain, rule, claims)
  const transactions = new Set(
    read.flatMap((one) => (isDeposit(one) ? [one.log.transactionHash] : [])),
  )
  const beside: EvmLog[] = []
  for (const hash of transactions)
    for (const log of (await readReceipt(chain.ask, hash))?.logs ?? []) beside.push(log)
  const deposits = toEvents(rule, beside, chain.coin).filter(isDeposit)
  const all = new Map([...read, ...deposits].map((one) => [placeOf(one.log), one]))
  const payers = new Map(
    read.flatMap(({ event }) => (event.payer === null ? [] : [[event.channel, event.payer]])),
  )
  const inOrder = [...all.values()].sort((one, other) => compare(one.log, other.log))
  return keepProved(inOrder, payers, { transfers: beside, coin: chain.coin })
}

/** All events of the channels of some claims, read backwards to each opening. */
async function readBack(
  { ask, coin, head }: Chain,
  rule: ChannelRule,
  claims: readonly Claim[],
): Promise<ChannelLog<EvmLog>[]> {
  const first = new Map<string, EvmLog>()
  for (const { channel, log } of claims.toSorted((one, other) => compare(other.log, one.log)))
    first.set(channel, log)
  const channels = [...first.keys()]
  const read: ChannelLog<EvmLog>[] = []
  for (let to = head; to >= 0 && first.size > 0; to -= BLOCKS_AT_ONCE) {
    const range = { from: Math.max(0, to - BLOCKS_AT_ONCE + 1), to }
    for (const contract of rule.contracts)
      for (const one of toEvents(
        rule,
        await readLogs(ask, contract, [rule.topics, channels], range),
        coin,
      )) {
        read.push(one)
        const claim = first.get(one.event.channel)
        const isBefore = claim !== undefined && compare(one.log, claim) <= 0
        if (one.event.payer !== null && isBefore) first.delete(one.event.channel)
      }
  }
  return read
}

interface Looked extends Chain {
  network: string
  wallets: readonly string[]
  range: BlockRange
  /** Positions of rows. */
  known: ReadonlySet<string>
  /** Transfers to the wallets that nothing else explains. */
  unexplained: readonly EvmLog[]
}

/** Claims without a row, of channels with some wallets that were opened in a range of blocks. */
export async function findUnknownClaims(looked: Looked): Promise<Claim[]> {
  const { network, coin, wallets, known } = looked
  const claims: Claim[] = []
  for (const rule of CHANNEL_RULES.filter(({ isOn }) => isOn(network))) {
    const events = toEvents(rule, await readOfWallets(looked, rule), coin)
    const own = new Set(
      events.flatMap(({ event }) => (wallets.includes(event.payee ?? '') ? [event.channel] : [])),
    )
    for (const { log, event } of events)
      if (CLAIMING.has(event.kind) && own.has(event.channel) && !known.has(placeOf(log)))
        claims.push({ rule, log, channel: event.channel, row: null })
  }
  return claims
}

/** Where logs do not name the seller, they are read if a contract paid one of the wallets. */
async function readOfWallets(
  { ask, wallets, range, unexplained }: Looked,
  { contracts, mark, topics, payingTopics, isPaidBy }: ChannelRule,
): Promise<EvmLog[]> {
  const read = async (wanted: Parameters<typeof readLogs>[2]) => {
    const logs: EvmLog[] = []
    for (const contract of contracts)
      for (const log of await readLogs(ask, contract, wanted, range)) logs.push(log)
    return logs
  }
  if (mark === null) return read([topics, null, null, wallets.map(toTopic)])
  if (unexplained.length === 0) return []
  const paying = payingTopics.length === 0 ? [] : await read([payingTopics])
  const beside = Map.groupBy(paying, ({ transactionHash }) => transactionHash)
  const isPaid = unexplained.some((one) => isPaidBy(one, beside.get(one.transactionHash) ?? []))
  return isPaid ? read([topics]) : []
}

function toEvents(rule: ChannelRule, logs: readonly EvmLog[], coin: string): ChannelLog<EvmLog>[] {
  return logs.flatMap((log) => {
    const event = rule.contracts.includes(log.address) ? rule.read(log, coin) : null
    return event === null ? [] : [{ log, event }]
  })
}

function compare(one: EvmLog, other: EvmLog): number {
  return one.blockNumber - other.blockNumber || one.logIndex - other.logIndex
}
