import type { ChannelRule } from '../../src/domain/settlement/schemes/channel-rule.ts'
import { DEPOSIT_PLACES } from '../../src/domain/settlement/schemes/contracts.ts'
import {
  AUTHORIZATION_USED_TOPIC,
  firstUses,
  pairAuthorizations,
} from '../../src/domain/settlement/schemes/eip3009.ts'
import {
  amountOf,
  type EvmCall,
  TRANSFER_TOPIC,
  toAddress,
  toTopic,
} from '../../src/domain/settlement/schemes/evm-log.ts'
import { isPaidBy, readPermit2Call } from '../../src/domain/settlement/schemes/permit2.ts'
import { CHANNEL_RULES } from '../../src/domain/settlement/schemes/schemes.ts'
import {
  isMemoTransfer,
  isOwnMoney,
  isTempo,
  MEMO_TRANSFER_TOPIC,
  markOfRealm,
  readMemo,
} from '../../src/domain/settlement/schemes/tempo-charge.ts'
import { largestOf, smallestOf } from '../../src/domain/wire/extremes.ts'
import type { EvmChain, TimedLog } from '../settlements/evm-chain.ts'
import type { LogRanges, Range } from './log-ranges.ts'
import type { ChainWork } from './meter-world.ts'

export interface PaidLogs {
  /** The log that moved the money of each payment. */
  paid: TimedLog[]
  /** Schemes whose contracts paid one of them out of a channel. */
  paying: ChannelRule[]
  /** By wallet, the first block where it paid somebody who is not read, by the same means. */
  paidOthers: ReadonlyMap<string, number>
}

export interface Reading {
  work: ChainWork
  chain: EvmChain
  ranges: LogRanges
}

/** What some payouts were paid, by any scheme that counts on this chain. */
export function readPaidLogs(
  reading: Reading,
  payouts: readonly string[],
  range: Range,
): Promise<PaidLogs> {
  return isTempo(reading.work.network)
    ? readMemoPayments(reading, payouts, range)
    : readTokenPayments(reading, payouts, range)
}

/** Where wallets paid anybody by a scheme that counts; what they put into a channel is no payment yet. */
export async function readConsents(
  { work, ranges }: Omit<Reading, 'chain'>,
  wallets: readonly string[],
  range: Range,
): Promise<TimedLog[]> {
  if (isTempo(work.network)) return readMemos(work, ranges, range, { from: wallets })
  const uses = await ranges.logsOf(wallets, range, (some) => [AUTHORIZATION_USED_TOPIC, some, null])
  return withoutDeposits(ranges, uses, range)
}

async function readTokenPayments(
  { chain, ranges }: Reading,
  payouts: readonly string[],
  range: Range,
): Promise<PaidLogs> {
  const received = await ranges.logsOf(payouts, range, (some) => [TRANSFER_TOPIC, null, some])
  const payers = [...new Set(received.map(({ topics }) => toAddress(topics[1])))]
  const uses = await ranges.logsOf(payers, range, (some) => [AUTHORIZATION_USED_TOPIC, some, null])
  const { paid, elsewhere } = pairAuthorizations(received, uses)
  const known = new Set(paid)
  const unknown = received.filter((log) => !known.has(log) && !isFromNobody(log))
  const settled = await findSettled(chain, unknown)
  const explained = new Set([...settled.values()].flat())
  const calls = await readCalls(
    chain,
    unknown.filter((log) => !explained.has(log)),
  )
  const permitted = [...calls].flatMap(([log, call]) => {
    const paidBy = readPermit2Call(call)
    return paidBy !== null && isPaidBy(paidBy, log, log.address) ? [log] : []
  })
  const others = await withoutDeposits(ranges, elsewhere, range)
  return {
    paid: inOrder([...paid, ...permitted]),
    paying: [...settled.keys()],
    paidOthers: firstUses(others),
  }
}

/** By scheme, the transfers that its contracts made out of channels. */
async function findSettled(
  chain: EvmChain,
  transfers: readonly TimedLog[],
): Promise<Map<ChannelRule, TimedLog[]>> {
  const settled = new Map<ChannelRule, TimedLog[]>()
  if (transfers.length === 0) return settled
  const blocks = transfers.map(({ blockNumber }) => blockNumber)
  const [from, to] = [smallestOf(blocks), largestOf(blocks)]
  for (const rule of CHANNEL_RULES) {
    const { contracts, payingTopics, isPaidBy: isPaid } = rule
    const paying: TimedLog[] = []
    for (const contract of payingTopics.length > 0 ? contracts : [])
      for (const log of await chain.logs([payingTopics], from, to, contract)) paying.push(log)
    const beside = Map.groupBy(paying, ({ transactionHash }) => transactionHash)
    const own = transfers.filter((one) => isPaid(one, beside.get(one.transactionHash) ?? []))
    if (own.length > 0) settled.set(rule, own)
  }
  return settled
}

async function readMemoPayments(
  { work, chain, ranges }: Reading,
  payouts: readonly string[],
  range: Range,
): Promise<PaidLogs> {
  const marks = new Map(
    work.payouts.map(({ payout, hosts }) => [
      payout,
      new Set(hosts.map((host) => markOfRealm(toHostname(host)))),
    ]),
  )
  const received = await readMemos(work, ranges, range, { to: payouts })
  const marked = received.filter(({ topics }) =>
    marks.get(toAddress(topics[2]))?.has(readMemo(topics[3])?.realm ?? ''),
  )
  const calls = await readCalls(chain, marked)
  const paid = [...calls].flatMap(([log, call]) => (isOwnMoney(log, call) ? [log] : []))
  const payers = [...new Set(paid.map(({ topics }) => toAddress(topics[1])))]
  const given = await readMemos(work, ranges, range, { from: payers })
  const others = given.filter(({ topics }) => !marks.has(toAddress(topics[2])))
  return { paid: inOrder(paid), paying: [], paidOthers: firstUses(others) }
}

/** Transfers with a memo of MPP, by who gave or who got them. */
async function readMemos(
  { asset }: ChainWork,
  ranges: LogRanges,
  range: Range,
  wallets: { from: readonly string[] } | { to: readonly string[] },
): Promise<TimedLog[]> {
  const logs =
    'to' in wallets
      ? await ranges.logsOf(wallets.to, range, (some) => [MEMO_TRANSFER_TOPIC, null, some, null])
      : await ranges.logsOf(wallets.from, range, (some) => [MEMO_TRANSFER_TOPIC, some, null, null])
  return logs.filter(
    (log) => isMemoTransfer(log, asset.address) && readMemo(log.topics[3]) !== null,
  )
}

/**
 * Uses whose money did not go into a channel or an escrow: it may be meant for this very seller, and
 * may come back.
 */
async function withoutDeposits(
  ranges: LogRanges,
  uses: readonly TimedLog[],
  range: Range,
): Promise<TimedLog[]> {
  const wallets = [...new Set(uses.map(({ topics }) => toAddress(topics[1])))]
  const places = DEPOSIT_PLACES.map(toTopic)
  const deposits = await ranges.logsOf(wallets, range, (some) => [TRANSFER_TOPIC, some, places])
  const made = new Set(deposits.map((log) => `${log.transactionHash} ${log.logIndex}`))
  return uses.filter((use) => !made.has(`${use.transactionHash} ${use.logIndex + 1}`))
}

/**
 * Transactions looked up in one range, those that moved most first: a flood of small
 * transfers hides nothing that is worth more.
 */
const MOST_CALLS = 500

async function readCalls(
  chain: EvmChain,
  logs: readonly TimedLog[],
): Promise<Map<TimedLog, EvmCall>> {
  const largest = logs
    .filter((log) => amountOf(log) > 0n)
    .sort((one, other) => (amountOf(one) < amountOf(other) ? 1 : -1))
  const known = new Map<string, EvmCall>()
  const calls = new Map<TimedLog, EvmCall>()
  for (const log of largest) {
    const hash = log.transactionHash
    if (!known.has(hash) && known.size >= MOST_CALLS) continue
    const call = known.get(hash) ?? (await chain.call(log))
    known.set(hash, call)
    calls.set(log, call)
  }
  return calls
}

/** New coins come from nobody. */
function isFromNobody({ topics }: TimedLog): boolean {
  return /^0x0*$/.test(topics[1] ?? '')
}

function inOrder(logs: TimedLog[]): TimedLog[] {
  return logs.sort(
    (one, other) => one.blockNumber - other.blockNumber || one.logIndex - other.logIndex,
  )
}

/** A host may come with a port; a realm never does. */
function toHostname(host: string): string {
  return host.replace(/:\d+$/, '')
}
