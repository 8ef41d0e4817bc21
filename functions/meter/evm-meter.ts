import type { Settlement } from '../../src/domain/settlement/settlement.ts'
import { largestOf } from '../../src/domain/wire/extremes.ts'
import { type EvmChain, findBlockAt, openEvmChain } from '../settlements/evm-chain.ts'
import { insertTransfers } from '../settlements/settlement-rows.ts'
import type { MeterCursorTable } from '../store/store.ts'
import { inPieces } from '../store/store.ts'
import { createLogRanges } from './log-ranges.ts'
import {
  insertCursors,
  insertPayers,
  insertPayments,
  notePaidOthers,
  type Payer,
  readCursors,
} from './meter-rows.ts'
import { type ChainTally, type ChainWork, FIRST_READ_MS, MeterStopped } from './meter-world.ts'
import type { Reading } from './paid-logs.ts'
import { Reorganised, readRange, type SeenRange } from './read-range.ts'
import { rollBack } from './roll-back.ts'
import { tracePayers } from './trace-payers.ts'

/**
 * Reads payments to the payouts of one EVM chain since the last run. Requests grow with the blocks:
 * payouts go into one list of topics, as long as the node accepts.
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
      const furthest =
        largestOf(
          cursors.map(({ next_block }) => next_block),
          1,
        ) - 1
      // A node that waits for blocks is fine; one that lost some needs attention.
      if (furthest > target)
        work.log.error('meter.node_behind', { network, node_has: target, was_read: furthest })
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

/** Reorganisations one run puts up with; a node with more of them is read another time. */
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

/** New payouts start one window back; with `since` all of them start there. */
async function startCursors(work: ChainWork, chain: EvmChain, head: number): Promise<void> {
  const { network, payouts, store, clock, since } = work
  const known = new Set((await readCursors(store, network, payouts)).map(({ payout }) => payout))
  const fresh = payouts.filter(({ payout }) => !known.has(payout))
  if (fresh.length > 0) {
    const start = Math.min(clock.now() - FIRST_READ_MS, since ?? Number.POSITIVE_INFINITY)
    const block = await findBlockAt(chain, start, head)
    const row = { network, first_block: block, next_block: block, read_until: 0, mark: null }
    const rows = fresh.map(({ payout }) => ({ ...row, payout }))
    await work.write((trx) => insertCursors(trx, rows))
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

/** The payouts that are furthest behind, up to where the next ones join them. */
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
 * Stores a whole range and that it was read, or nothing.
 *
 * @throws MeterStopped when its payouts' position has changed since it was begun
 */
async function writeRange(
  work: ChainWork,
  group: readonly MeterCursorTable[],
  { from, edge, payments, sent, paidOthers }: SeenRange,
): Promise<void> {
  const { write, network } = work
  await write(async (trx) => {
    await insertPayments(trx, work.payouts, payments)
    await insertTransfers(trx, sent)
    await insertPayers(trx, toPayers(payments), { isTraced: false })
    await notePaidOthers(trx, network, paidOthers)
    await trx
      .insertInto('meter_block')
      .values({ network, number: edge.number, hash: edge.hash })
      .onConflict((conflict) => conflict.columns(['network', 'number']).doNothing())
      .execute()
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

/** Each payer with its first payment of the range. */
function toPayers(payments: readonly Settlement[]): Payer[] {
  const first = new Map<string, Payer>()
  for (const { network, payer, block, at } of payments) {
    const known = first.get(payer)
    if (block !== null && (known === undefined || block < known.first_block))
      first.set(payer, { network, payer, first_block: block, first_paid_at: at })
  }
  return [...first.values()]
}
