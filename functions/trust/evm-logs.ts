import { hash } from 'node:crypto'
import { authorizationMarkOf } from '../../src/domain/relay/delivered.ts'
import {
  AUTHORIZATION_USED_TOPIC,
  amountOf,
  DEPOSIT_PLACES,
  type EvmRule,
  eip3009,
  MEMO_TRANSFER_TOPIC,
  markOfRealm,
  permit2,
  readRealmOf,
  type ShownPayment,
  TRANSFER_TOPIC,
  tempoCharge,
  toAddress,
  toTopic,
} from '../../src/domain/trust/evm-payments.ts'
import type { Transfer } from '../../src/domain/trust/payments.ts'
import type { UsdAsset } from '../../src/domain/trust/usd-assets.ts'
import type { MeterCursorTable } from '../store/store.ts'
import {
  type Block,
  type EvmChain,
  needBlock,
  RpcError,
  readTimes,
  type TimedLog,
  type Topics,
  toTransfer,
} from './evm-chain.ts'
import type { ChainWork, SettlementTable } from './meter-rows.ts'

type Payment = ShownPayment<TimedLog>

interface PaidLogs {
  /** Payments in chain order. */
  paid: Payment[]
  /** For each wallet, the first block in which it paid an unmetered account by the same means. */
  paidOthers: ReadonlyMap<string, number>
}

export interface Reading {
  work: ChainWork
  chain: EvmChain
  ranges: LogRanges
}

/** Payments on this chain to certain payouts, by any accepted scheme. */
function readPaidLogs(reading: Reading, payouts: readonly string[], range: Range) {
  return isTempo(reading.work.network)
    ? readMemoPayments(reading, payouts, range)
    : readTokenPayments(reading, payouts, range)
}

function isTempo(network: string): boolean {
  return network === 'eip155:4217' || network === 'eip155:42431'
}

/** Blocks in which wallets paid anybody by an accepted scheme; a deposit is not a payment yet. */
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
 * How many transactions are looked up per payout in one range, the largest first: a flood of small payments hides
 * nothing, and a flood of large payments to the flooder's own payout hides no other payout's.
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
  let requested = 0
  for (const [hash, own] of Map.groupBy(largest, ({ transactionHash }) => transactionHash)) {
    const [first] = own
    if (first === undefined || !wanted.has(hash)) continue
    if (++requested % CALLS_A_STEP === 0) await onStep()
    const call = await chain.call(first)
    for (const payment of rule.read({ logs: own, call, coin })) payments.push(payment)
  }
  return payments
}

function firstTransactions(logs: readonly TimedLog[]): string[] {
  const hashes = new Set(logs.map(({ transactionHash }) => transactionHash))
  return [...hashes].slice(0, MOST_CALLS)
}

function firstBlocks(logs: readonly TimedLog[]): Map<string, number> {
  const first = new Map<string, number>()
  for (const { topics, blockNumber } of logs) {
    const wallet = toAddress(topics[1])
    first.set(wallet, Math.min(blockNumber, first.get(wallet) ?? blockNumber))
  }
  return first
}

/** True for a transfer that no buyer made: minted coins, or a deposit paid out by a contract. */
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

/** What one range of blocks contains about some payouts. */
export interface SeenRange {
  from: number
  /** The last block of the range. */
  edge: Block
  payments: SettlementTable[]
  /** Transfers from the payouts. */
  sent: Transfer[]
  /** For each wallet, the first block in which it paid somebody else by the same means. */
  paidOthers: ReadonlyMap<string, number>
}

/** A remembered block has left the chain. */
export class Reorganised extends Error {
  override name = 'Reorganised'
  readonly block: number

  constructor(block: number) {
    super(`block ${block} has left the chain`)
    this.block = block
  }
}

/**
 * Reads one range between two checks of its last block, and returns nothing if the chain changed in
 * between.
 * @throws RpcError if the node cannot answer or contradicts itself; Reorganised if a remembered
 *   block has left the chain
 */
export async function readRange(
  { work, chain, ranges }: Reading,
  group: readonly MeterCursorTable[],
  range: { from: number; to: number },
): Promise<SeenRange> {
  const edge = await needBlock(chain, range.to)
  if (edge.at > work.clock.now() + MOST_AHEAD_MS)
    throw new RpcError(`block ${edge.number} has a time in the future`)
  await assertRemembered(work, chain, range.from - 1)
  await assertRemembered(work, chain, range.to, edge)
  const wallets = group.map(({ payout }) => payout)
  const { paid, paidOthers } = await readPaidLogs({ work, chain, ranges }, wallets, range)
  const gone = await ranges.logsOf(wallets, range, (some) => [TRANSFER_TOPIC, some, null])
  const sent = gone.filter(isMoney)
  const timeOf = await readTimes(chain, [...paid.map(({ log }) => log), ...sent], edge)
  if ((await needBlock(chain, range.to)).hash !== edge.hash)
    throw new RpcError('the chain was reorganised while it was read')
  return {
    from: range.from,
    edge,
    payments: paid.map((payment) => toSettlement(payment, work, timeOf)),
    sent: sent.map((log) => toTransfer(log, work.network, timeOf(log))),
    paidOthers,
  }
}

/** Chains' clocks may run a little ahead of ours. */
const MOST_AHEAD_MS = 15 * 60_000

/** @param there the block that the chain has at this height, if it was just read */
async function assertRemembered(
  { store, network }: ChainWork,
  chain: EvmChain,
  number: number,
  there?: Block,
): Promise<void> {
  const remembered = await store.db
    .selectFrom('meter_block')
    .select('hash')
    .where((eb) => eb.and({ network, number }))
    .executeTakeFirst()
  if (remembered === undefined) return
  const { hash } = there ?? (await needBlock(chain, number))
  if (hash !== remembered.hash) throw new Reorganised(number)
}

/** False for a transfer of zero, which anybody can make in anybody's name. */
export function isMoney(log: TimedLog): boolean {
  return amountOf(log) > 0n
}

function toSettlement(
  { log, payer, scheme, consent }: ShownPayment<TimedLog>,
  { network, asset }: ChainWork,
  timeOf: (log: TimedLog) => number,
): SettlementTable {
  const payee = toAddress(log.topics[2])
  const nonce = scheme === 'eip3009' ? consent.topics[2] : undefined
  const mark = nonce && authorizationMarkOf({ network, payee, payer }, nonce)
  return {
    ...{ network, transaction_id: log.transactionHash, log_index: log.logIndex, listing_id: '' },
    ...{ payer, payee, amount: amountOf(log).toString(), scheme },
    micro_usd: Math.round(toUsd(amountOf(log), asset) * 1_000_000),
    settled_at: timeOf(log),
    block_number: log.blockNumber,
    authorization_hash: mark ? hash('sha256', mark) : null,
  }
}

/** Most blocks requested at once; a range that a node refuses is requested in smaller ranges. */
const MOST_BLOCKS = 10_000
/** Wallets in one list of topics: at first as many as a request may contain, then what most nodes accept. */
const MOST_WALLETS = 10_000
const USUAL_WALLETS = 1_000
const FEWEST_WALLETS = 50
/**
 * How many ranges must succeed before wider ones are tried again: the node may have refused only because it was busy.
 */
const FORGET_AFTER = 100
/** How close a range must come to the width that was refused: within a tenth. */
const CLOSE_ENOUGH = 0.1

/**
 * How much one node answers at once. Each node has its own limits on blocks, topics and logs and
 * its own error texts, so every refusal makes the next request smaller, down to a minimum.
 */
type LogRanges = ReturnType<typeof createLogRanges>

interface Range {
  from: number
  to: number
}

export function createLogRanges(chain: EvmChain) {
  let span = createSpan()
  /** The most wallets in one list, and the longest list requested in the current range. */
  let most = MOST_WALLETS
  let longest = 0
  let tried: 'nothing' | 'shorter' | 'both' = 'nothing'
  /** @returns false if the request cannot be made smaller */
  const askForLess = (blocks: number): boolean => {
    // A node that refuses a long list over many blocks may object to the list or to the blocks: a shorter
    // list is tried once; if that is refused too, the blocks were the reason, and the list may be long again.
    if (tried === 'nothing' && longest > USUAL_WALLETS) {
      tried = 'shorter'
      most = USUAL_WALLETS
      return true
    }
    if (tried === 'shorter') {
      tried = 'both'
      most = MOST_WALLETS
    }
    if (blocks > 1) {
      span.refuse(blocks)
      return true
    }
    // Not even one block is accepted, so the list is too long.
    if (longest <= FEWEST_WALLETS) return false
    most = Math.min(USUAL_WALLETS, Math.ceil(longest / 2))
    span = createSpan()
    return true
  }
  return {
    /** Runs `read` over the blocks, in ranges that the node answers; a refused range is read in parts. */
    async each(from: number, to: number, read: (from: number, to: number) => Promise<void>) {
      for (let at = from; at <= to; ) {
        const end = Math.min(to, at + span.blocks - 1)
        const blocks = end - at + 1
        longest = 0
        try {
          await read(at, end)
        } catch (error) {
          const isRefusal = error instanceof RpcError && error.kind === 'refused'
          if (isRefusal && askForLess(blocks)) continue
          throw error
        }
        span.accept(blocks)
        at = end + 1
      }
    },
    /**
     * The coin's logs for many wallets.
     * @param toTopics puts the wallets at their position among the topics
     */
    async logsOf(
      wallets: readonly string[],
      { from, to }: Range,
      toTopics: (wallets: readonly string[]) => Topics,
    ) {
      const logs: TimedLog[] = []
      for (let at = 0; at < wallets.length; ) {
        const some = wallets.slice(at, at + most).map(toTopic)
        longest = Math.max(longest, some.length)
        for (const log of await chain.logs(toTopics(some), from, to)) logs.push(log)
        at += some.length
      }
      return logs
    },
  }
}

/** The width of a range: doubled until a refusal, then between the accepted and the refused width. */
function createSpan() {
  let good = 0
  let refused = Number.POSITIVE_INFINITY
  let inARow = 0
  const span = {
    blocks: MOST_BLOCKS,
    accept(blocks: number) {
      inARow += 1
      if (inARow % FORGET_AFTER === 0) refused = Number.POSITIVE_INFINITY
      // The short range at the end of a chain does not show how wide a range may be.
      if (blocks < span.blocks) return
      good = blocks
      if (refused === Number.POSITIVE_INFINITY) span.blocks = Math.min(MOST_BLOCKS, blocks * 2)
      else if (refused - blocks > blocks * CLOSE_ENOUGH)
        span.blocks = Math.floor((blocks + refused) / 2)
    },
    refuse(blocks: number) {
      refused = blocks
      inARow = 0
      span.blocks = good > 0 && good < blocks ? good : Math.ceil(blocks / 2)
      // A width that was accepted before is refused now: this part of the chain is busier.
      if (good >= blocks) good = 0
    },
  }
  return span
}

/** More dollars than any of the coins has in circulation. */
const MOST_USD = 1e12

/** @throws RpcError for more than the supply: nothing else from such a node can be trusted */
function toUsd(amount: bigint, { decimals }: UsdAsset): number {
  const usd = Number(amount) / 10 ** decimals
  if (!(usd <= MOST_USD))
    throw new RpcError('eth_getLogs: the node sent a payment larger than the supply')
  return usd
}
