import type { Transaction } from 'kysely'
import { amountOf, TRANSFER_TOPIC, toAddress } from '../../src/domain/trust/evm-payments.ts'
import type { Transfer } from '../../src/domain/trust/payments.ts'
import { WASH } from '../../src/domain/trust/wash.ts'
import { largestOf, smallestOf } from '../../src/domain/wire/json.ts'
import { DAY_MS } from '../../src/domain/wire/shapes.ts'
import {
  inPieces,
  insertTogether,
  type MeterCursorTable,
  type MeterPayerTable,
  type Tables,
} from '../store/store.ts'
import {
  type Block,
  type EvmChain,
  needBlock,
  openEvmChain,
  readTimes,
  type TimedLog,
  toTransfer,
} from './evm-chain.ts'
import {
  createLogRanges,
  isMoney,
  type Reading,
  Reorganised,
  readConsents,
  readRange,
  type SeenRange,
} from './evm-logs.ts'
import {
  type ChainTally,
  type ChainWork,
  FIRST_READ_MS,
  insertPayers,
  insertPayments,
  insertTransfers,
  MeterStopped,
  type Payer,
  readCursors,
  type SettlementTable,
} from './meter-rows.ts'

/**
 * Reads payments to the payouts on one EVM chain since the last run. The number of requests grows
 * with the blocks: payouts go into one list of topics, which is as long as the node accepts.
 *
 * Known limit: a node that omits logs looks like a quiet chain.
 */
export async function measureEvm(work: ChainWork): Promise<ChainTally> {
  const { network, asset, store, confirmations } = work
  const chain = await openEvmChain(work.rpc, { network, token: asset.address })
  const head = await chain.head()
  const target = head - confirmations + 1
  const ranges = createLogRanges(chain)
  const tally: ChainTally = { payments: 0, read: 0 }
  await takeBackFrom(work, chain, head)
  await startCursors(work, chain, head)
  for (let rollBacks = 0; ; ) {
    const cursors = await readCursors(store, network, work.payouts)
    const group = nextGroup(cursors, target)
    if (group === null) {
      const was_read = largestOf(cursors.map(({ next_block }) => next_block - 1))
      // A node that merely waits for blocks is fine; a node that lost blocks needs attention.
      if (was_read > target)
        work.log.error('meter.node_behind', { network, node_has: target, was_read })
      break
    }
    try {
      await readGroup({ work, chain, ranges }, group, tally)
    } catch (error) {
      if (!(error instanceof Reorganised) || rollBacks >= MOST_ROLL_BACKS) throw error
      await takeBackFrom(work, chain, error.block)
      rollBacks += 1
    }
  }
  await tracePayers({ work, chain, ranges, head })
  return tally
}

/** How many reorganisations one run accepts; after more, the node is left to a later run. */
const MOST_ROLL_BACKS = 3

async function takeBackFrom(work: ChainWork, chain: EvmChain, newest: number): Promise<void> {
  const { network, log } = work
  const ancestor = await rollBack(work, chain, newest)
  if (ancestor !== null) log.error('meter.reorganised', { network, back_to: ancestor })
}

async function readGroup(reading: Reading, group: Group, tally: ChainTally): Promise<void> {
  const { work, ranges } = reading
  await ranges.each(group.from, group.to, async (from, to) => {
    await work.onStep()
    const seen = await readRange(reading, group.payouts, { from, to })
    await writeRange(work, group.payouts, seen)
    tally.payments += seen.payments.length
    tally.read += to - from + 1
  })
}

/** New payouts are read from one window back; with `since`, all payouts are read from that time. */
async function startCursors(work: ChainWork, chain: EvmChain, head: number): Promise<void> {
  const { network, payouts, store, clock, since } = work
  const known = new Set((await readCursors(store, network, payouts)).map(({ payout }) => payout))
  const fresh = payouts.filter(({ payout }) => !known.has(payout))
  if (fresh.length > 0) {
    const start = Math.min(clock.now() - FIRST_READ_MS, since ?? Number.POSITIVE_INFINITY)
    const block = await findBlockAt(chain, start, head)
    const row = { network, first_block: block, next_block: block, read_until: 0, mark: null }
    const rows = fresh.map(({ payout }) => ({ ...row, payout }))
    const { dialect } = store
    await work.write((trx) => insertTogether({ db: trx, dialect }, 'meter_cursor', rows))
  }
  if (since === null) return
  const again = await findBlockAt(chain, since, head)
  await work.write(async (trx) => {
    await trx
      .updateTable('meter_cursor')
      .set((eb) => ({
        next_block: again,
        first_block: eb
          .case()
          .when('first_block', '>', again)
          .then(again)
          .else(eb.ref('first_block'))
          .end(),
      }))
      .where('network', '=', network)
      .where('next_block', '>', again)
      .execute()
  })
}

interface Group {
  payouts: MeterCursorTable[]
  from: number
  to: number
}

/** The payouts that are furthest behind, and the range up to where the next payouts join them. */
function nextGroup(cursors: readonly MeterCursorTable[], target: number): Group | null {
  const positions = [...new Set(cursors.map(({ next_block }) => next_block))].sort((a, b) => a - b)
  const [from, joined = target + 1] = positions
  if (from === undefined || from > target) return null
  return {
    payouts: cursors.filter(({ next_block }) => next_block === from),
    from,
    to: Math.min(target, joined - 1),
  }
}

/**
 * Stores the rows of a whole range together with its payouts' new position, or nothing.
 * @throws MeterStopped if these payouts' position has changed since the range was begun
 */
async function writeRange(
  work: ChainWork,
  group: readonly MeterCursorTable[],
  { from, edge, payments, sent, paidOthers }: SeenRange,
): Promise<void> {
  const { write, network } = work
  await write(async (trx) => {
    await insertPayments(trx, work, payments)
    await insertTransfers(trx, sent)
    await insertPayers(trx, toPayers(payments), { isTraced: false })
    await notePaidOthers(trx, network, paidOthers)
    const block = { network, number: edge.number, hash: edge.hash }
    await insertTogether({ db: trx, dialect: work.store.dialect }, 'meter_block', [block])
    for (const some of inPieces(group.map(({ payout }) => payout))) {
      const moved = await trx
        .updateTable('meter_cursor')
        .set({ next_block: edge.number + 1, read_until: edge.at })
        .where((eb) => eb.and({ network, next_block: from }))
        .where('payout', 'in', some)
        .returning('payout')
        .execute()
      if (moved.length < some.length)
        throw new MeterStopped('a payout was read elsewhere meanwhile')
    }
  })
}

/** Each payer with its first payment in the range. */
function toPayers(payments: readonly SettlementTable[]): Payer[] {
  const first = new Map<string, Payer>()
  for (const { network, payer, block_number: block, settled_at: at } of payments) {
    const known = first.get(payer)
    if (block !== null && (known === undefined || block < known.first_block))
      first.set(payer, { network, payer, first_block: block, first_paid_at: at })
  }
  return [...first.values()]
}

/**
 * Rolls back what was read from blocks that have left the chain, down to the last remembered block
 * that is still on it, however deep. A node that is merely behind rolls nothing back.
 * @param head the node's newest block
 * @returns the last block that stays, or null if nothing was removed
 */
async function rollBack(work: ChainWork, chain: EvmChain, head: number) {
  const { store, network } = work
  const known = await store.db
    .selectFrom('meter_block')
    .select(['number', 'hash'])
    .where('network', '=', network)
    .where('number', '<=', head)
    .orderBy('number')
    .execute()
  const isThere = async ({ number, hash }: Pick<Block, 'number' | 'hash'>) =>
    (await needBlock(chain, number)).hash === hash
  const newest = known.at(-1)
  if (newest === undefined || (await isThere(newest))) return null
  // All blocks before an existing one exist too: the common ancestor is found by bisection.
  const gone = await bisect(known.length - 1, async (place) => {
    const block = known[place]
    return block !== undefined && isThere(block)
  })
  const ancestor = known[gone - 1]?.number ?? -1
  await takeBack(work, ancestor)
  return ancestor
}

const READ_BY_BLOCK = [
  ['settlement', 'block_number'],
  ['wallet_transfer', 'block_number'],
  ['meter_payer', 'first_block'],
  ['meter_block', 'number'],
] as const

/** Forgets everything after a block, so that it is read again. */
async function takeBack(work: ChainWork, ancestor: number): Promise<void> {
  const { network } = work
  await work.write(async (trx) => {
    for (const [table, column] of READ_BY_BLOCK)
      await trx
        .deleteFrom(table)
        .where('network', '=', network)
        .where(column, '>', ancestor)
        .execute()
    await trx
      .updateTable('meter_payer')
      .set({ paid_others_block: null })
      .where('network', '=', network)
      .where('paid_others_block', '>', ancestor)
      .execute()
    await trx
      .updateTable('meter_cursor')
      .set((eb) => ({
        next_block: eb
          .case()
          .when('first_block', '>', ancestor + 1)
          .then(eb.ref('first_block'))
          .else(ancestor + 1)
          .end(),
      }))
      .where('network', '=', network)
      .where('next_block', '>', ancestor + 1)
      .execute()
  })
}

/** How many payers are looked up together: one list of topics, of a length that most nodes accept. */
const PAYERS_AT_ONCE = 1_000

type Tracing = Reading & { head: number }

/**
 * Finds where new payers' money came from in the thirty days before they first paid, and whether
 * they had paid others by then. Until both are known, their payments are not counted.
 */
async function tracePayers(tracing: Tracing): Promise<void> {
  const { store, network } = tracing.work
  for (;;) {
    const payers = await store.db
      .selectFrom('meter_payer')
      .selectAll()
      .where((eb) => eb.and({ network, is_traced: 0 }))
      .orderBy('first_block')
      .orderBy('payer')
      .limit(PAYERS_AT_ONCE)
      .execute()
    if (payers.length === 0) return
    await traceTogether(tracing, payers)
  }
}

async function traceTogether(tracing: Tracing, payers: readonly MeterPayerTable[]) {
  const { work, chain, ranges, head } = tracing
  const { network } = work
  const firstBlocks = new Map(payers.map(({ payer, first_block }) => [payer, first_block]))
  const wallets = [...firstBlocks.keys()]
  const earliest = smallestOf(payers.map(({ first_paid_at }) => first_paid_at))
  const start = await findBlockAt(chain, earliest - WASH.hopDays * DAY_MS, head)
  const funding: Funding = new Map()
  const paidOthers = new Map<string, number>()
  await ranges.each(start, largestOf(firstBlocks.values()), async (from, to) => {
    await work.onStep()
    const range = { from, to }
    const received = await ranges.logsOf(wallets, range, (some) => [TRANSFER_TOPIC, null, some])
    const uses = await readConsents(tracing, wallets, range)
    for (const log of received.filter(isMoney))
      if (log.blockNumber <= (firstBlocks.get(toAddress(log.topics[2])) ?? -1))
        addFunding(funding, log)
    for (const { topics, blockNumber } of uses) {
      const wallet = toAddress(topics[1])
      if (blockNumber < (firstBlocks.get(wallet) ?? 0))
        paidOthers.set(wallet, Math.min(blockNumber, paidOthers.get(wallet) ?? blockNumber))
    }
  })
  const transfers = await toFundingTransfers(work, chain, funding)
  await work.write(async (trx) => {
    await insertTransfers(trx, transfers)
    await notePaidOthers(trx, network, paidOthers)
    for (const some of inPieces(payers))
      await trx
        .updateTable('meter_payer')
        .set({ is_traced: 1 })
        .where('network', '=', network)
        .where(
          'payer',
          'in',
          some.map(({ payer }) => payer),
        )
        .execute()
  })
}

/** Transfers kept from one wallet to one payer: the last, and the largest of those before it. */
const MOST_OF_ONE = 3

/** Funding wallets kept for one payer: a rival's dust must not push out the largest ones. */
const MOST_FUNDERS = 5

/** Transfers to payers before they paid: by payer and sender, a few in chain order. */
type Funding = Map<string, Map<string, TimedLog[]>>

function addFunding(funding: Funding, log: TimedLog): void {
  const [sender, payer] = [toAddress(log.topics[1]), toAddress(log.topics[2])]
  const senders = funding.get(payer) ?? new Map<string, TimedLog[]>()
  const given = [...(senders.get(sender) ?? []), log]
  senders.set(sender, given.length > MOST_OF_ONE ? withoutSmallest(given) : given)
  funding.set(payer, senders)
}

/** Leaves out the smallest transfer, but never the last, because the last gives the time. */
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
 * The transfers worth keeping, and whether wallets that had the seller's money, or funded many
 * payers, are contracts.
 */
async function toFundingTransfers(
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
  const timeOf = await readTimes(chain, kept, await needBlock(chain, last))
  return kept.map((log) => {
    const transfer = toTransfer(log, work.network, timeOf(log))
    return { ...transfer, from_contract: codes.get(transfer.from) ?? null }
  })
}

/** Half of the smallest crowd that can be a burst: a wallet that funded so many payers may be one party's or a bridge's. */
const MANY = Math.ceil(WASH.burst.cohort * WASH.burst.funderShare)
/** How many wallets that funded many payers are looked up together. */
const MOST_REQUESTED = 50

/** Wallets that funded the most payers. */
function findManyHanded(given: readonly TimedLog[]): string[] {
  const bySender = Map.groupBy(given, ({ topics }) => toAddress(topics[1]))
  return [...bySender]
    .map(([wallet, own]) => ({ wallet, payers: new Set(own.map(({ topics }) => topics[2])).size }))
    .filter(({ payers }) => payers >= MANY)
    .sort((one, other) => other.payers - one.payers)
    .slice(0, MOST_REQUESTED)
    .map(({ wallet }) => wallet)
}

/** Which of these wallets are payouts we read, or received money from such a payout. */
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

/** @param payers for each wallet, the block in which it paid somebody whose payments we do not read */
async function notePaidOthers(
  trx: Transaction<Tables>,
  network: string,
  payers: ReadonlyMap<string, number>,
): Promise<void> {
  for (const [payer, block] of payers)
    await trx
      .updateTable('meter_payer')
      .set({ paid_others_block: block })
      .where((eb) => eb.and({ network, payer }))
      .where(({ eb, or }) =>
        or([eb('paid_others_block', 'is', null), eb('paid_others_block', '>', block)]),
      )
      .execute()
}

/** The first block at or after a time, up to `head`; if there is none, the block after `head`. */
async function findBlockAt(chain: EvmChain, at: number, head: number): Promise<number> {
  return bisect(head + 1, async (number) => (await needBlock(chain, number)).at < at)
}

/** The lowest number for which `isBefore` is false; `high` if there is none below it. */
async function bisect(
  high: number,
  isBefore: (number: number) => Promise<boolean>,
): Promise<number> {
  let [low, end] = [0, high]
  while (low < end) {
    const middle = Math.floor((low + end) / 2)
    if (await isBefore(middle)) low = middle + 1
    else end = middle
  }
  return low
}
