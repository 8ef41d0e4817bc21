import {
  type ChannelLog,
  type ChannelRule,
  CLAIMING,
  isDeposit,
  keepProved,
} from '../../src/domain/settlement/schemes/channel-rule.ts'
import { DEPOSIT_PLACES } from '../../src/domain/settlement/schemes/contracts.ts'
import { TRANSFER_TOPIC } from '../../src/domain/settlement/schemes/evm-log.ts'
import { CHANNEL_RULES } from '../../src/domain/settlement/schemes/scheme-rules.ts'
import {
  type Block,
  findBlockAt,
  readTimes,
  type TimedLog,
  timeOf,
} from '../settlements/evm-chain.ts'
import type { ChannelEventTable } from '../store/schema/store.ts'
import type { Range } from './log-ranges.ts'
import { type ChainWork, FIRST_READ_MS } from './meter-world.ts'
import type { Reading } from './paid-logs.ts'

/**
 * Events in some blocks of channels with the payouts we read. Where a contract's logs do not name
 * the seller, all of them are read, but only once the contract has paid one of our payouts: from
 * then on, and once as far back as payments count.
 *
 * Known limit: a channel opened earlier is not counted.
 *
 * @param paying the schemes whose contracts paid a payout in these blocks
 */
export async function readChannels(
  { work, chain, ranges }: Reading,
  range: Range,
  edge: Block,
  paying: readonly ChannelRule[],
): Promise<ChannelEventTable[]> {
  const { marks, payers } = await readKnownChannels(work)
  const rows: ChannelEventTable[] = []
  for (const rule of CHANNEL_RULES.filter(({ isOn }) => isOn(work.network))) {
    const isNew = rule.mark !== null && !marks.has(rule.mark)
    if (isNew && !paying.includes(rule)) continue
    const back = isNew ? await findBlockAt(chain, edge.at - FIRST_READ_MS, edge.number) : range.from
    if (isNew) rows.push(toMark(work.network, rule, range.from, edge))
    await ranges.each(Math.min(range.from, back), range.to, async (from, to) => {
      await work.onStep()
      const read = await readEvents({ work, chain, ranges }, rule, payers, { from, to })
      const claims = read.flatMap(({ log, event }) => (CLAIMING.has(event.kind) ? [log] : []))
      const times = await readTimes(chain, claims, edge)
      for (const { log, event } of read)
        rows.push({
          ...event,
          network: work.network,
          transaction_id: log.transactionHash,
          log_index: log.logIndex,
          block_number: log.blockNumber,
          at: CLAIMING.has(event.kind) ? timeOf(log, times) : edge.at,
          scheme: rule.id,
          amount: event.amount.toString(),
        })
    })
  }
  return rows
}

/** Schemes whose contracts are read in full, and the payer of each channel. */
async function readKnownChannels({
  store,
  network,
}: ChainWork): Promise<{ marks: Set<number>; payers: Map<string, string> }> {
  const rows = await store.db
    .selectFrom('channel_event')
    .select(['channel', 'payer', 'log_index'])
    .where('network', '=', network)
    .where(({ eb, or }) => or([eb('payer', 'is not', null), eb('channel', '=', '')]))
    .execute()
  const marks = rows.flatMap(({ channel, log_index }) => (channel === '' ? [log_index] : []))
  const payers = rows.flatMap(({ channel, payer }) =>
    payer === null ? [] : [[channel, payer] as const],
  )
  return { marks: new Set(marks), payers: new Map(payers) }
}

/** Events of channels with our payouts; only proved deposits. Records new channels' payers. */
async function readEvents(
  { work, chain, ranges }: Reading,
  rule: ChannelRule,
  payers: Map<string, string>,
  range: Range,
): Promise<ChannelLog<TimedLog>[]> {
  const { payouts, asset } = work
  const wallets = payouts.map(({ payout }) => payout)
  const ours = new Set(wallets)
  const all: ChannelLog<TimedLog>[] = []
  for (const contract of rule.contracts) {
    const logs =
      rule.mark === null
        ? await ranges.logsOf(wallets, range, (some) => [rule.topics, null, null, some], contract)
        : await chain.logs([rule.topics], range.from, range.to, contract)
    for (const log of logs) {
      const event = rule.read(log, asset.address)
      if (event !== null) all.push({ log, event })
    }
  }
  for (const { event } of all)
    if (event.payer !== null && ours.has(event.payee ?? '')) payers.set(event.channel, event.payer)
  const own = all.filter(({ event }) => payers.has(event.channel))
  if (!own.some(isDeposit)) return own
  const money = await ranges.logsOf(DEPOSIT_PLACES, range, (some) => [TRANSFER_TOPIC, null, some])
  return keepProved(all, payers, { transfers: money, coin: asset.address })
}

/** Marks that the contracts of a scheme are read, whether or not there is any channel. */
function toMark(
  network: string,
  { id: scheme, mark }: ChannelRule,
  block_number: number,
  { at }: Block,
): ChannelEventTable {
  const place = { network, transaction_id: '', log_index: mark ?? 0, block_number, at, scheme }
  return { ...place, channel: '', kind: 'opened', amount: '0', payer: null, payee: null }
}
