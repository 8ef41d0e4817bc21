import { DEPOSIT_PLACES } from '../../src/domain/settlement/schemes/contracts.ts'
import { AUTHORIZATION_USED_TOPIC, eip3009 } from '../../src/domain/settlement/schemes/eip3009.ts'
import {
  amountOf,
  TRANSFER_TOPIC,
  toAddress,
  toTopic,
} from '../../src/domain/settlement/schemes/evm-log.ts'
import type { EvmRule, ShownPayment } from '../../src/domain/settlement/schemes/evm-rule.ts'
import { permit2 } from '../../src/domain/settlement/schemes/permit2.ts'
import {
  isTempo,
  MEMO_TRANSFER_TOPIC,
  markOfRealm,
  readRealmOf,
  tempoCharge,
} from '../../src/domain/settlement/schemes/tempo-charge.ts'
import type { EvmChain, TimedLog } from '../settlements/evm-chain.ts'
import type { LogRanges, Range } from './log-ranges.ts'
import type { ChainWork } from './meter-world.ts'

type Payment = ShownPayment<TimedLog>

export interface PaidLogs {
  /** In chain order. */
  paid: Payment[]
  /** By wallet, the first block where it paid somebody who is not read, by the same means. */
  paidOthers: ReadonlyMap<string, number>
}

export interface Reading {
  work: ChainWork
  chain: EvmChain
  ranges: LogRanges
}

/** Payments to some payouts, by any scheme that counts on this chain. */
export function readPaidLogs(reading: Reading, payouts: readonly string[], range: Range) {
  return isTempo(reading.work.network)
    ? readMemoPayments(reading, payouts, range)
    : readTokenPayments(reading, payouts, range)
}

/** Where wallets paid anybody by a scheme that counts; a deposit is not a payment yet. */
export async function readConsents(
  { work, ranges }: Reading,
  wallets: readonly string[],
  range: Range,
): Promise<TimedLog[]> {
  if (isTempo(work.network)) return readMemos(work, ranges, range, { from: wallets })
  const uses = await ranges.logsOf(wallets, range, (some) => [AUTHORIZATION_USED_TOPIC, some, null])
  return withoutDeposits(ranges, uses, range)
}

async function readTokenPayments(
  reading: Reading,
  payouts: readonly string[],
  range: Range,
): Promise<PaidLogs> {
  const { work, ranges } = reading
  const coin = work.asset.address
  const received = await ranges.logsOf(payouts, range, (some) => [TRANSFER_TOPIC, null, some])
  const payers = [...new Set(received.map(({ topics }) => toAddress(topics[1])))]
  const uses = await ranges.logsOf(payers, range, (some) => [AUTHORIZATION_USED_TOPIC, some, null])
  const signed = eip3009.read({ logs: [...received, ...uses], call: null, coin })
  const known = new Set(signed.flatMap(({ log, consent }) => [log, consent]))
  const others = received.filter((log) => !known.has(log) && !isOutOfContract(log))
  const permitted = await readCalls(permit2, reading, others)
  const elsewhere = uses.filter((use) => !known.has(use))
  return {
    paid: inOrder([...signed, ...permitted]),
    paidOthers: firstBlocks(await withoutDeposits(ranges, elsewhere, range)),
  }
}

async function readMemoPayments(
  reading: Reading,
  payouts: readonly string[],
  range: Range,
): Promise<PaidLogs> {
  const { work, ranges } = reading
  const marks = new Map(
    work.payouts.map(({ payout, hosts }) => [
      payout,
      // A host may come with a port; a realm never does.
      new Set(hosts.map((host) => markOfRealm(host.replace(/:\d+$/, '')))),
    ]),
  )
  const coin = work.asset.address
  const received = await readMemos(work, ranges, range, { to: payouts })
  const marked = received.filter((log) =>
    marks.get(toAddress(log.topics[2]))?.has(readRealmOf(log, coin) ?? ''),
  )
  const paid = await readCalls(tempoCharge, reading, marked)
  const payers = [...new Set(paid.map(({ payer }) => payer))]
  const given = await readMemos(work, ranges, range, { from: payers })
  const others = given.filter(({ topics }) => !marks.has(toAddress(topics[2])))
  return { paid: inOrder(paid), paidOthers: firstBlocks(others) }
}

/** Transfers with an MPP memo, by sender or by recipient. */
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
  return logs.filter((log) => readRealmOf(log, asset.address) !== null)
}

/** Authorisations whose money did not go into a contract that may return it. */
async function withoutDeposits(ranges: LogRanges, uses: readonly TimedLog[], range: Range) {
  const wallets = [...new Set(uses.map(({ topics }) => toAddress(topics[1])))]
  const places = DEPOSIT_PLACES.map(toTopic)
  const deposits = await ranges.logsOf(wallets, range, (some) => [TRANSFER_TOPIC, some, places])
  const made = new Set(deposits.map((log) => `${log.transactionHash} ${log.logIndex}`))
  return uses.filter((use) => !made.has(`${use.transactionHash} ${use.logIndex + 1}`))
}

/**
 * Transactions looked up in one range for each payout, the largest first: a flood of small ones hides
 * nothing, and one of large ones to a payout of the flooder's own hides nobody else's.
 */
const MOST_CALLS = 500
/** Calls after which this process reports that it is still alive. */
const CALLS_A_STEP = 100

async function readCalls(
  rule: EvmRule,
  { chain, work: { asset, onStep } }: Reading,
  logs: readonly TimedLog[],
): Promise<Payment[]> {
  const coin = asset.address
  const largest = logs
    .filter((log) => amountOf(log) > 0n)
    .sort((one, other) => (amountOf(one) < amountOf(other) ? 1 : -1))
  const byPayout = Map.groupBy(largest, ({ topics }) => toAddress(topics[2]))
  const wanted = new Set([...byPayout.values()].flatMap(firstTransactions))
  const payments: Payment[] = []
  let asked = 0
  for (const [hash, own] of Map.groupBy(largest, ({ transactionHash }) => transactionHash)) {
    const [first] = own
    if (first === undefined || !wanted.has(hash)) continue
    if (++asked % CALLS_A_STEP === 0) await onStep()
    const call = await chain.call(first)
    for (const payment of rule.read({ logs: own, call, coin })) payments.push(payment)
  }
  return payments
}

function firstTransactions(logs: readonly TimedLog[]): string[] {
  const hashes = new Set(logs.map(({ transactionHash }) => transactionHash))
  return [...hashes].slice(0, MOST_CALLS)
}

/** By wallet, the first block in which it did one of these things. */
function firstBlocks(logs: readonly TimedLog[]): Map<string, number> {
  const first = new Map<string, number>()
  for (const { topics, blockNumber } of logs) {
    const wallet = toAddress(topics[1])
    first.set(wallet, Math.min(blockNumber, first.get(wallet) ?? blockNumber))
  }
  return first
}

/** No buyer's Permit2 payment: new coins come from nobody, and deposits are paid out by their contract. */
function isOutOfContract({ topics }: TimedLog): boolean {
  const from = toAddress(topics[1])
  return /^0x0*$/.test(from) || DEPOSIT_PLACES.includes(from)
}

function inOrder(payments: Payment[]): Payment[] {
  return payments.sort(
    ({ log: one }, { log: other }) =>
      one.blockNumber - other.blockNumber || one.logIndex - other.logIndex,
  )
}
