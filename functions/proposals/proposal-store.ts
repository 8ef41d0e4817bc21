import type { Kysely } from 'kysely'
import * as v from 'valibot'
import {
  type FoundService,
  FoundServiceSchema,
  toFoundView,
} from '../../src/domain/proposals/found-service.ts'
import type { ProposalView } from '../../src/domain/proposals/proposal-views.ts'
import { countRows } from '../store/rows.ts'
import type { ProposalTable, Tables } from '../store/schema/store.ts'

/** Proposals that may wait: what people can look through in a week, and some megabytes. */
export const MAX_WAITING = 500
/** Of one origin: nobody lists a whole host endpoint by endpoint. */
export const MAX_WAITING_OF_ORIGIN = 5

export type AddedProposal = { id: string } | { full: 'queue' | 'origin' }

/** Adds a proposal, or finds the same that waits. With `listing_id` it is a correction of that. */
export async function addProposal(
  db: Kysely<Tables>,
  row: Pick<ProposalTable, 'id' | 'url' | 'note' | 'email'> & { listing_id?: string },
  found: FoundService,
  now: number,
): Promise<AddedProposal> {
  const { origin } = new URL(row.url)
  return db.transaction().execute(async (trx) => {
    const waiting = trx.selectFrom('proposal').where('state', '=', 'waiting')
    const alike = waiting.select('id').where('url', '=', row.url)
    const same = await (row.listing_id === undefined
      ? alike.where('listing_id', 'is', null)
      : alike.where('listing_id', '=', row.listing_id).where('note', '=', row.note)
    ).executeTakeFirst()
    if (same !== undefined) return same
    if ((await countRows(waiting)) >= MAX_WAITING) return { full: 'queue' }
    const own = waiting.where('origin', '=', origin)
    if ((await countRows(own)) >= MAX_WAITING_OF_ORIGIN) return { full: 'origin' }
    await trx
      .insertInto('proposal')
      .values({
        listing_id: null,
        ...row,
        origin,
        found: JSON.stringify(found),
        file: null,
        state: 'waiting',
        reason: null,
        created_at: now,
        settled_at: null,
      })
      .execute()
    return { id: row.id }
  })
}

export function findWaitingAt(db: Kysely<Tables>, url: string) {
  return db
    .selectFrom('proposal')
    .selectAll()
    .where((eb) => eb.and({ state: 'waiting', url, listing_id: null }))
    .executeTakeFirst()
}

export function findProposal(db: Kysely<Tables>, id: string) {
  return db.selectFrom('proposal').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function listWaiting(db: Kysely<Tables>): Promise<ProposalTable[]> {
  return db
    .selectFrom('proposal')
    .selectAll()
    .where('state', '=', 'waiting')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** @param file JSON of path and text */
export async function editProposal(db: Kysely<Tables>, id: string, file: string): Promise<void> {
  await db.updateTable('proposal').set({ file }).where('id', '=', id).execute()
}

/** The decision; the proposer's address goes with it. */
export async function settleProposal(
  db: Kysely<Tables>,
  id: string,
  decision: { state: 'accepted' | 'refused'; reason: string; listing_id: string | null },
  now: number,
): Promise<void> {
  await db
    .updateTable('proposal')
    .set({ ...decision, email: null, settled_at: now })
    .where('id', '=', id)
    .execute()
}

const parseFound = v.parser(FoundServiceSchema)

/** @throws when the ledger holds something else: it was written by another version */
export function foundOf({ found }: Pick<ProposalTable, 'found'>): FoundService {
  return parseFound(JSON.parse(found))
}

/** Without note and address: an id is all it takes to see it. */
export function toProposalView(row: ProposalTable): ProposalView {
  return {
    id: row.id,
    url: row.url,
    status: row.state,
    created_at: new Date(row.created_at).toISOString(),
    reason: row.reason,
    listing_id: row.listing_id,
    found: toFoundView(foundOf(row)),
  }
}
