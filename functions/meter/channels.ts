import type { Transaction } from 'kysely'
import {
  CHANNEL_TOPICS,
  type ChannelEvent,
  countClaims,
  proveDeposits,
  readChannelLog,
} from '../../src/domain/settlement/schemes/batch-settlement.ts'
import { CHANNELS, DEPOSIT_PLACES } from '../../src/domain/settlement/schemes/contracts.ts'
import { TRANSFER_TOPIC, toTopic } from '../../src/domain/settlement/schemes/evm-log.ts'
import type { Settlement } from '../../src/domain/settlement/settlement.ts'
import {
  type Block,
  findBlockAt,
  readTimes,
  type TimedLog,
  timeOf,
} from '../settlements/evm-chain.ts'
import { inPieces } from '../settlements/settlement-rows.ts'
import type { ChannelEventTable, Tables } from '../store/schema/tables.ts'
import type { Range } from './log-ranges.ts'
import { type ChainWork, FIRST_READ_MS } from './meter-world.ts'
import type { Reading } from './paid-logs.ts'

/**
 * What happened in some blocks to channels with the payouts we read. A contract's logs do not name the
 * seller, so they are read whole; and so only once a contract has paid one of our payouts: from then on,
 * and once as far back as payments count.
 *
 * Known limit: of a channel that was opened earlier, nothing is counted.
 */
export async function readChannels(
  { work, chain, ranges }: Reading,
  range: Range,
  edge: Block,
  { isSettled }: { isSettled: boolean },
): Promise<ChannelEventTable[]> {
  const known = await readKnownChannels(work)
  if (known === null && !isSettled) return []
  const back = () => findBlockAt(chain, edge.at - FIRST_READ_MS, edge.number)
  const from = known === null ? Math.min(range.from, await back()) : range.from
  const payers = known ?? new Map<string, string>()
  const rows: ChannelEventTable[] = known === null ? [toMark(work.network, range.from, edge)] : []
  await ranges.each(from, range.to, async (low, high) => {
    await work.onStep()
    const read: Read[] = []
    for (const { contract } of CHANNELS)
      for (const log of await chain.logs([Object.values(CHANNEL_TOPICS)], low, high, contract)) {
        const event = readChannelLog(log, work.asset.address)
        if (event !== null && isOurs(event, work, payers)) read.push({ log, event })
      }
    const kept = await withProvedDeposits({ work, chain, ranges }, read, payers, {
      from: low,
      to: high,
    })
    const claims = kept.flatMap(({ log, event }) => (event.kind === 'claim' ? [log] : []))
    const times = await readTimes(chain, claims, edge)
    for (const { log, event } of kept) rows.push(toRow(work.network, log, event, times, edge))
  })
  return rows
}

interface Read {
  log: TimedLog
  event: ChannelEvent
}

/** By channel, its payer; null while no contract has paid any of our payouts. */
async function readKnownChannels({
  store,
  network,
}: ChainWork): Promise<Map<string, string> | null> {
  const rows = await store.db
    .selectFrom('channel_event')
    .select(['channel', 'payer'])
    .where('network', '=', network)
    .where('kind', '=', 'opened')
    .execute()
  return rows.length === 0
    ? null
    : new Map(rows.map(({ channel, payer }) => [channel, payer ?? '']))
}

/** Notes whose a channel is that was opened with one of our payouts. */
function isOurs(event: ChannelEvent, { payouts }: ChainWork, payers: Map<string, string>): boolean {
  if (event.payer !== null && payouts.some(({ payout }) => payout === event.payee))
    payers.set(event.channel, event.payer)
  return payers.has(event.channel)
}

async function withProvedDeposits(
  { work, ranges }: Reading,
  read: readonly Read[],
  payers: ReadonlyMap<string, string>,
  range: Range,
): Promise<Read[]> {
  const deposits = read
    .filter(({ event }) => event.kind === 'deposit')
    .map(({ log, event }) => ({ log, payer: payers.get(event.channel) ?? '' }))
  const wallets = [...new Set(deposits.map(({ payer }) => payer))]
  const places = DEPOSIT_PLACES.map(toTopic)
  const money = await ranges.logsOf(wallets, range, (some) => [TRANSFER_TOPIC, some, places])
  const proved = proveDeposits(deposits, money, work.asset.address)
  return read.filter(({ log, event }) => event.kind !== 'deposit' || proved.has(log))
}

function toRow(
  network: string,
  log: TimedLog,
  { channel, kind, amount, payer, payee }: ChannelEvent,
  times: ReadonlyMap<number, number>,
  edge: Block,
): ChannelEventTable {
  return {
    network,
    transaction_id: log.transactionHash,
    log_index: log.logIndex,
    block_number: log.blockNumber,
    at: kind === 'claim' ? timeOf(log, times) : edge.at,
    channel,
    kind,
    amount: amount.toString(),
    payer,
    payee,
  }
}

/** Says that the channels of a chain are read, whether or not there is any. */
function toMark(network: string, block: number, { at }: Block): ChannelEventTable {
  const nothing = { channel: '', kind: 'opened', amount: '0', payer: null, payee: null } as const
  return { network, transaction_id: '', log_index: 0, block_number: block, at, ...nothing }
}

/** Writes what happened, and says what was claimed by it, and before it, on the channels it touches. */
export async function writeChannels(
  trx: Transaction<Tables>,
  work: ChainWork,
  rows: readonly ChannelEventTable[],
): Promise<Settlement[]> {
  for (const some of inPieces(rows))
    await trx
      .insertInto('channel_event')
      .values(some)
      .onConflict((conflict) =>
        conflict.columns(['network', 'transaction_id', 'log_index']).doNothing(),
      )
      .execute()
  const touched = [...new Set(rows.map(({ channel }) => channel))]
  const settlements: Settlement[] = []
  for (const some of inPieces(touched)) {
    const events = await trx
      .selectFrom('channel_event')
      .selectAll()
      .where('network', '=', work.network)
      .where('channel', 'in', some)
      .orderBy('block_number')
      .orderBy('log_index')
      .execute()
    for (const own of Map.groupBy(events, ({ channel }) => channel).values())
      for (const settlement of toSettlements(work, own)) settlements.push(settlement)
  }
  return settlements
}

/** @param events of one channel, in chain order */
function toSettlements(
  { payouts, asset }: ChainWork,
  events: readonly ChannelEventTable[],
): Settlement[] {
  const { payer = null, payee = null } = events.find(({ kind }) => kind === 'opened') ?? {}
  const listing = payouts.find(({ payout }) => payout === payee)
  if (payer === null || payee === null || listing === undefined) return []
  const counted = countClaims(events.map((row) => ({ ...row, amount: BigInt(row.amount) })))
  return [...counted].map(([row, amount]) => ({
    network: row.network,
    transaction: row.transaction_id,
    log_index: row.log_index,
    listing_id: listing.listing_id,
    payer,
    payee,
    amount: amount.toString(),
    usd: Number(amount) / 10 ** asset.decimals,
    at: row.at,
    block: row.block_number,
  }))
}
