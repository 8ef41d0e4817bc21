import { TRANSFER_TOPIC, toAddress } from '../../src/domain/settlement/schemes/evm-log.ts'
import { WASH } from '../../src/domain/wash/wash-rules.ts'
import { largestOf, smallestOf } from '../../src/domain/wire/extremes.ts'
import { findBlockAt } from '../settlements/evm-chain.ts'
import { insertTransfers } from '../settlements/settlement-rows.ts'
import type { MeterPayerTable } from '../store/store.ts'
import { inPieces } from '../store/store.ts'
import { addFunding, type Funding, toFundingTransfers } from './funding.ts'
import { notePaidOthers } from './meter-rows.ts'
import { type Reading, readConsents } from './paid-logs.ts'
import { isMoney } from './read-range.ts'

const DAY_MS = 86_400_000
/** Payers looked up together: one list of topics, as most nodes accept it. */
const PAYERS_AT_ONCE = 1_000

type Tracing = Reading & { head: number }

/**
 * Where new payers' money came from in the thirty days before they first paid, and whether they had
 * paid others by then. Until that is known their payments do not count.
 */
export async function tracePayers(tracing: Tracing): Promise<void> {
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
