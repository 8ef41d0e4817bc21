import { hash } from 'node:crypto'
import type { ReportBody, ReportKind, ReportView } from '../../src/domain/reports/report.ts'
import type { ReportTable, Store } from '../store/store.ts'
import { countRows } from '../store/store.ts'

/** Reports that may wait: as many as people can review, and a few megabytes. */
const MAX_WAITING: Readonly<Record<ReportKind, number>> = { new: 500, wrong: 500, dispute: 1000 }
/** For one host without a listing: nobody lists a whole host endpoint by endpoint. */
const MAX_OF_HOST = 5
/** Of one kind about one listing: a crowd says no more than a few do. */
const MAX_OF_LISTING = 20
/**
 * How many disputes of one listing may wait before even its owner's are refused. The owner has
 * reserved places, so that strangers who fill the queue cannot stop it from disputing a verdict.
 */
const MAX_FOR_OWNER = 2 * MAX_OF_LISTING

/** What a report is about, once resolved: an address, or a listing and maybe its receipt. */
export type Subject = Pick<ReportTable, 'url' | 'listing_id' | 'receipt'>
export type AddedReport = { report: ReportTable } | { full: 'queue' | 'subject' }

/** Identical words about one subject are one report, as are all waiting ones of an address. */
export async function addReport(
  { db }: Store,
  { kind, text, links }: Pick<ReportBody, 'kind' | 'text' | 'links'>,
  { url, listing_id, receipt }: Subject,
  { email, isOwners, now }: { email: string | null; isOwners: boolean; now: number },
): Promise<AddedReport> {
  const said = JSON.stringify([kind, url, listing_id, receipt, text, ...links])
  const id = `r${hash('sha256', said).slice(0, 18)}`
  const row: ReportTable = {
    ...{ id, kind, url, listing_id, receipt, text, email, links: JSON.stringify(links) },
    host: url === null ? null : new URL(url).host,
    ...{ state: 'waiting', reason: null, created_at: now, settled_at: null },
  }
  return db.transaction().execute(async (trx) => {
    const same =
      (await findReport({ db: trx }, id)) ??
      (url === null ? undefined : await findWaitingAt(trx, url))
    if (same !== undefined) return { report: same }
    const full = await findFull(trx, row, isOwners)
    if (full !== null) return { full }
    await trx
      .insertInto('report')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
    return { report: row }
  })
}

function findWaitingAt(db: Store['db'], url: string) {
  return db
    .selectFrom('report')
    .selectAll()
    .where((eb) => eb.and({ state: 'waiting', url }))
    .executeTakeFirst()
}

/** Which limit is reached. */
async function findFull(
  db: Store['db'],
  { kind, host, listing_id }: ReportTable,
  isOwners: boolean,
): Promise<'queue' | 'subject' | null> {
  const waiting = db.selectFrom('report').where((eb) => eb.and({ state: 'waiting', kind }))
  const alike =
    listing_id === null
      ? waiting.where('host', '=', host)
      : waiting.where('listing_id', '=', listing_id)
  const most = listing_id === null ? MAX_OF_HOST : isOwners ? MAX_FOR_OWNER : MAX_OF_LISTING
  if ((await countRows(alike)) >= most) return 'subject'
  return !isOwners && (await countRows(waiting)) >= MAX_WAITING[kind] ? 'queue' : null
}

/** Whether a seller has proved that a listing is its own. */
export async function isOwner(
  { db }: Store,
  listing_id: string | null,
  seller_id: string | undefined,
): Promise<boolean> {
  if (listing_id === null || seller_id === undefined) return false
  const claims = db
    .selectFrom('claim')
    .where((eb) => eb.and({ listing_id, seller_id, state: 'verified' }))
  return (await countRows(claims)) > 0
}

export function findReport(
  { db }: Pick<Store, 'db'>,
  id: string,
): Promise<ReportTable | undefined> {
  return db.selectFrom('report').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function listWaiting({ db }: Store): Promise<ReportTable[]> {
  return db
    .selectFrom('report')
    .selectAll()
    .where('state', '=', 'waiting')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/**
 * The decision; the sender's address is deleted with it.
 *
 * @returns false when somebody else decided it meanwhile.
 */
export async function settleReport(
  { db }: Store,
  id: string,
  decision: Pick<ReportTable, 'state' | 'reason'> & { listing_id?: string },
  now: number,
): Promise<boolean> {
  const settled = await db
    .updateTable('report')
    .set({ ...decision, email: null, settled_at: now })
    .where((eb) => eb.and({ id, state: 'waiting' }))
    .returning('id')
    .execute()
  return settled.length > 0
}

export function aboutOf({ url, receipt, listing_id }: Subject): string {
  return url ?? receipt ?? listing_id ?? ''
}

export function toReportView(row: ReportTable): ReportView {
  const { id, kind, state, reason, listing_id } = row
  return { id, kind, about: aboutOf(row), status: state, reason, listing_id }
}
