import { type Kysely, sql } from 'kysely'
import { followMoves } from '../../src/domain/derived/tombstone.ts'
import type { Tables } from '../store/store.ts'

/** Rows of which one listing may have several. */
const PLAIN = ['click', 'settlement', 'report', 'receipt']
/** Rows of which a listing has at most one; an existing row wins. */
const SINGLE = { probe_evidence: sql`true`, opt_out: sql`moved_to is null` }
/** Counts that add up, with the rest of their key. */
const COUNTS = {
  click_day: { key: ['day', 'src'], count: 'clicks' },
  usage_day: { key: ['kind', 'day', 'src'], count: 'uses' },
}

/**
 * Moves the ledger's rows of moved listings to their current ids: clicks, payments, receipts, reports, claims
 * with their payout proofs, and an owner's opt-out. Running it again does nothing.
 *
 * @param moves from each former id to the next
 * @param isListed whether the content has a listing of this id
 */
export async function moveRows(
  db: Kysely<Tables>,
  moves: ReadonlyMap<string, string>,
  isListed: (id: string) => boolean,
): Promise<void> {
  for (const from of moves.keys()) {
    const to = followMoves(moves, from)
    if (to !== null && isListed(to))
      await db.transaction().execute((trx) => moveListing(trx, from, to))
  }
}

async function moveListing(trx: Kysely<Tables>, from: string, to: string): Promise<void> {
  const rename = (table: string, where = sql`true`) =>
    sql`update ${sql.table(table)} set listing_id = ${to} where listing_id = ${from} and ${where}`.execute(
      trx,
    )
  for (const table of PLAIN) await rename(table)
  for (const [table, where] of Object.entries(SINGLE))
    await rename(
      table,
      sql`${where} and not exists (select 1 from ${sql.table(table)} there where there.listing_id = ${to})`,
    )
  await moveProofs(trx, from, to)
  // A seller who already proved the new address owns it; claims on the former one lapse.
  await rename(
    'claim',
    sql`not exists (select 1 from claim there where there.listing_id = ${to} and there.state = 'verified')`,
  )
  for (const [table, { key, count }] of Object.entries(COUNTS)) {
    const [name, sum, keys] = [
      sql.table(table),
      sql.ref(count),
      sql.join(key.map((k) => sql.ref(k))),
    ]
    await sql`insert into ${name} (listing_id, ${keys}, ${sum})
      select ${to}, ${keys}, ${sum} from ${name} where listing_id = ${from}
      on conflict (listing_id, ${keys}) do update set ${sum} = ${name}.${sum} + excluded.${sum}`.execute(
      trx,
    )
    await sql`delete from ${name} where listing_id = ${from}`.execute(trx)
  }
}

/** Where one seller proved both addresses, the payouts proved for the former count for the new. */
async function moveProofs(trx: Kysely<Tables>, from: string, to: string): Promise<void> {
  await sql`update payout_proof set claim_id = (
      select now.id from claim now join claim was on was.seller_id = now.seller_id
      where was.id = payout_proof.claim_id and now.listing_id = ${to} and now.state = 'verified')
    where exists (
      select 1 from claim was join claim now on now.seller_id = was.seller_id
      where was.id = payout_proof.claim_id and was.listing_id = ${from} and was.state = 'verified'
        and now.listing_id = ${to} and now.state = 'verified'
        and not exists (select 1 from payout_proof own
          where own.claim_id = now.id and own.payout = payout_proof.payout))`.execute(trx)
}
