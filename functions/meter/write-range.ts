import type { Settlement } from '../../src/domain/settlement/settlement.ts'
import type { MeterCursorTable } from '../store/schema/tables.ts'
import { writeChannels } from './channels.ts'
import {
  inPieces,
  insertPayers,
  insertPayments,
  insertTransferRows,
  notePaidOthers,
  type Payer,
} from './meter-rows.ts'
import { type ChainWork, MeterStopped } from './meter-world.ts'
import type { SeenRange } from './read-range.ts'

/**
 * All of a range, and that it was read, or nothing of it.
 *
 * @returns how many payments there are in it
 * @throws MeterStopped when its payouts have been read on, or back, since it was begun
 */
export async function writeRange(
  work: ChainWork,
  group: readonly MeterCursorTable[],
  { from, edge, payments: paid, sent, paidOthers, channels }: SeenRange,
): Promise<number> {
  const { write, network } = work
  let written = 0
  await write(async (trx) => {
    const payments = [...paid, ...(await writeChannels(trx, work, channels))]
    written = payments.length
    await insertPayments(trx, payments)
    await insertTransferRows(trx, sent)
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
        .where('network', '=', network)
        .where('next_block', '=', from)
        .where('payout', 'in', some)
        .returning('payout')
        .execute()
      if (moved.length < some.length)
        throw new MeterStopped('a payout was read elsewhere meanwhile')
    }
  })
  return written
}

/** Each payer with its first payment of the range. */
function toPayers(payments: readonly Settlement[]): Payer[] {
  const first = new Map<string, Payer>()
  for (const { network, payer, block, at } of payments) {
    const known = first.get(payer)
    if (block !== null && (known === undefined || block < known.block))
      first.set(payer, { network, payer, block, at })
  }
  return [...first.values()]
}
