import type { Transaction } from 'kysely'
import { CLAIMING, countClaims } from '../../src/domain/settlement/schemes/channel-rule.ts'
import type { Settlement } from '../../src/domain/settlement/settlement.ts'
import { inPieces } from '../store/rows.ts'
import type { ChannelEventTable, Tables } from '../store/schema/store.ts'
import { insertPayments } from './meter-rows.ts'
import { type ChainWork, toUsd } from './meter-world.ts'

/**
 * What channels paid, from all their events. A channel with a new event is counted again: refunds
 * to the payer and events of another branch of the chain change earlier payments.
 */

/** @returns what was claimed from the channels of these rows, which is stored too */
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
  return countAgain(trx, work, [...new Set(rows.map(({ channel }) => channel))])
}

/** Deletes the events after a block, and recounts what the affected channels paid. */
export async function takeBackChannels(trx: Transaction<Tables>, work: ChainWork, block: number) {
  const gone = await trx
    .deleteFrom('channel_event')
    .where('network', '=', work.network)
    .where('block_number', '>', block)
    .returning('channel')
    .execute()
  await countAgain(trx, work, [...new Set(gone.map(({ channel }) => channel))])
}

async function countAgain(trx: Transaction<Tables>, work: ChainWork, channels: readonly string[]) {
  const settlements: Settlement[] = []
  for (const some of inPieces(channels)) {
    const events = await trx
      .selectFrom('channel_event')
      .selectAll()
      .where('network', '=', work.network)
      .where('channel', 'in', some)
      .orderBy('block_number')
      .orderBy('log_index')
      .execute()
    for (const own of Map.groupBy(events, ({ channel }) => channel).values()) {
      const paid = toSettlements(work, own)
      if (paid === null) continue
      await forget(
        trx,
        own.filter(({ kind }) => CLAIMING.has(kind)),
      )
      for (const settlement of paid) settlements.push(settlement)
    }
  }
  await insertPayments(trx, work.payouts, settlements)
  return settlements
}

/** Claims deleted by one statement: databases limit how deep a condition may be. */
const CLAIMS_A_STATEMENT = 100

async function forget(trx: Transaction<Tables>, claims: readonly ChannelEventTable[]) {
  for (const some of inPieces(claims, CLAIMS_A_STATEMENT))
    await trx
      .deleteFrom('settlement')
      .where(({ and, or }) =>
        or(
          some.map(({ network, transaction_id, log_index }) =>
            and({ network, transaction_id, log_index }),
          ),
        ),
      )
      .execute()
}

/**
 * @param events of one channel, in chain order
 * @returns null where the channel's owner is unknown
 */
function toSettlements({ payouts, asset }: ChainWork, events: readonly ChannelEventTable[]) {
  const { payer = null, payee = null } = events.find((event) => event.payer !== null) ?? {}
  const isOurs = payouts.some(({ payout }) => payout === payee)
  if (payer === null || payee === null || !isOurs) return null
  const counted = countClaims(events.map((row) => ({ ...row, amount: BigInt(row.amount) })))
  return [...counted].map(([row, amount]) => ({
    network: row.network,
    transaction: row.transaction_id,
    log: row.log_index,
    listing_id: '',
    payer,
    payee,
    amount: amount.toString(),
    usd: toUsd(amount, asset),
    at: row.at,
    block: row.block_number,
    scheme: row.scheme,
  }))
}
