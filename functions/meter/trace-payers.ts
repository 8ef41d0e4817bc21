import type { Kysely } from 'kysely'
import { TRANSFER_TOPIC, toAddress, toTopic } from '../../src/domain/settlement/schemes/evm-log.ts'
import { WASH } from '../../src/domain/wash/wash-rules.ts'
import { largestOf, smallestOf } from '../../src/domain/wire/extremes.ts'
import { findBlockAt, needBlock, readTimes, timeOf, toTransfer } from '../settlements/evm-chain.ts'
import { insertTransfers } from '../settlements/settlement-rows.ts'
import { inPieces } from '../store/rows.ts'
import type { MeterPayerTable, Tables } from '../store/schema/store.ts'
import { addFunding, type Funding, toFundingTransfers } from './funding.ts'
import type { Range } from './log-ranges.ts'
import { insertPayers, notePaidOthers } from './meter-rows.ts'
import { type ChainWork, FIRST_READ_MS } from './meter-world.ts'
import { type Reading, readConsents } from './paid-logs.ts'
import { isMoney } from './read-range.ts'

const DAY_MS = 86_400_000
/** Payers looked up together: one list of topics, as most nodes take it. */
const PAYERS_AT_ONCE = 1_000

type Tracing = Reading & { head: number }

/**
 * Where new payers had their money from in the thirty days before they first paid, and whether they
 * paid others by then. Until that is known their payments do not count; those that came through the
 * relay do, and pages say that nobody has looked yet.
 */
export async function tracePayers(tracing: Tracing): Promise<void> {
  const { work } = tracing
  const { store, network } = work
  await work.write(async (trx) => {
    const relayed = await relayedPayers(trx, work.clock.now())
      .select(({ fn }) => [
        'network',
        'payer',
        fn.min<number>('block_number').as('first_block'),
        fn.min<number>('settled_at').as('first_paid_at'),
      ])
      .where('network', '=', network)
      .where('block_number', '<=', tracing.head)
      .groupBy(['network', 'payer'])
      .execute()
    const payers = relayed.map(({ first_block, first_paid_at, ...payer }) => ({
      ...payer,
      first_block: Number(first_block),
      first_paid_at: Number(first_paid_at),
    }))
    await insertPayers(trx, payers, { isTraced: false })
  })
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

/** Payments of the window that the relay alone saw, on EVM chains, whose payers nobody has queued. */
export function relayedPayers(db: Kysely<Tables>, now: number) {
  return db
    .selectFrom('settlement')
    .where('seen_by', '=', 'relay')
    .where('network', 'like', 'eip155:%')
    .where('settled_at', '>', now - FIRST_READ_MS)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('meter_payer')
            .select('meter_payer.payer')
            .whereRef('meter_payer.network', '=', 'settlement.network')
            .whereRef('meter_payer.payer', '=', 'settlement.payer'),
        ),
      ),
    )
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
  const payees = await findRelayedPayees(work, wallets)
  const range = { from: start, to: largestOf(firstBlocks.values()) }
  if (payees.length > 0) await readSentToFunders(tracing, payees, funding, range)
  const transfers = await toFundingTransfers(work, chain, funding, payees)
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

/** What payouts that are not metered sent to their payers' funders alone: others are strangers. */
async function readSentToFunders(
  { work, chain, ranges }: Reading,
  payees: readonly string[],
  funding: Funding,
  { from: first, to: last }: Range,
): Promise<void> {
  const funders = [...new Set([...funding.values()].flatMap((of) => [...of.keys()]))]
  const topics = payees.map(toTopic)
  await ranges.each(first, last, async (from, to) => {
    await work.onStep()
    const logs = await ranges.logsOf(funders, { from, to }, (some) => [
      TRANSFER_TOPIC,
      topics,
      some,
    ])
    const sent = logs.filter(isMoney)
    const times = await readTimes(chain, sent, await needBlock(chain, to))
    const rows = sent.map((log) => toTransfer(log, work.network, timeOf(log, times)))
    await work.write((trx) => insertTransfers(trx, rows))
  })
}

/** Whom some wallets paid through the relay, without the payouts that are metered. */
async function findRelayedPayees(
  { store, network, payouts }: ChainWork,
  wallets: readonly string[],
): Promise<string[]> {
  const metered = new Set(payouts.map(({ payout }) => payout))
  const rows = await store.db
    .selectFrom('settlement')
    .select('payee')
    .distinct()
    .where((eb) => eb.and({ network, seen_by: 'relay' }))
    .where('payer', 'in', wallets)
    .orderBy('payee')
    .execute()
  return rows.map(({ payee }) => payee).filter((payee) => !metered.has(payee))
}
