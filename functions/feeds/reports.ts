import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import * as v from 'valibot'
import { findUrlFault, withAsciiHosts } from '../../src/domain/listing/target-url.ts'
import { ReceiptIdSchema } from '../../src/domain/relay/receipt.ts'
import {
  lengthOf,
  MIN_TEXT_LENGTH,
  REPORT_KINDS,
  type ReportAnswer,
  ReportBodySchema,
  type ReportKind,
  type ReportPage,
  type ReportTakenSchema,
  type ReportView,
  reportStatePath,
} from '../../src/domain/sellers/report.ts'
import { pagePath } from '../../src/domain/wire/links.ts'
import { ON_DEMAND_PAGES } from '../../src/domain/wire/routes.ts'
import type { Feature, Handler, Parts } from '../features/feature.ts'
import { countAgainst, orRefused, readSent } from '../features/routes.ts'
import { jsonAnswer, refuse } from '../http/answers.ts'
import { parseBody } from '../http/parse-body.ts'
import { isOwnHost, privateTargetsOf } from '../net/guard.ts'
import { findReceipt } from '../receipts/receipts.ts'
import { toUnknownText } from '../release/release.ts'
import { createSessions, parseEmailAddress } from '../sellers/sign-in.ts'
import { clientOf, nodeClientOf } from '../server/rate-limits.ts'
import { countRows, type ReportTable, type Store } from '../store/store.ts'

/** Reports, which anybody may send as JSON or through a form: no part of a report is probed, opened or shown. */
export function createReportsFeature(parts: Parts) {
  return {
    routes: { report: createReportRoute(parts) },
    pages: {
      [ON_DEMAND_PAGES.reported]: {
        hasForm: true,
        prepare: async (req) => ({ reported: await showPage(parts, req) }),
      },
    },
  } satisfies Feature
}

const REPORT_ID = /^[a-z][0-9a-f]{18}$/

const FULL = {
  subject: 'Too many reports about this are already waiting for review.',
  queue: 'Too many reports are already waiting for review. Try again in a few days.',
} as const

/** `POST /api/v1/reports`: 202 if the report waits for review, 200 if there is nothing to decide. */
function createReportRoute(parts: Parts): Handler {
  return async (event) => {
    const sent = await parseBody(event.req, ReportBodySchema)
    const cookie = event.req.headers.get('cookie')
    const taken = toTaken(await takeReport(parts, sent, clientOf(event.req, parts.config), cookie))
    return jsonAnswer(taken, {}, taken.status === 'waiting' ? 202 : 200)
  }
}

function toTaken(answer: ReportAnswer): ReportTaken {
  if (answer.kind === 'listed')
    return { status: 'listed', listing_id: answer.listing_id, page: pagePath(answer.listing_id) }
  const { id, status } = answer.report
  return { status, id, page: reportStatePath(id) }
}

const LABELS = {
  about: 'What it is about',
  text: 'In your words',
  links: 'Pages that show it',
  email: 'Your email',
}

/** `/report`: the form for people, and the outcome of a report by its id. */
async function showPage(parts: Parts, req: IncomingMessage): Promise<ReportPage> {
  let fields = new URLSearchParams()
  const show = async () => {
    fields = await readSent(req, parts.config.BASE_URL)
    const id = fields.get('id')
    if (req.method !== 'POST')
      return id === null ? { kind: 'empty' as const } : showReport(parts, id)
    const body = v.safeParse(ReportBodySchema, toBody(fields))
    if (!body.success) {
      const [issue] = body.issues
      refuseField(v.getDotPath(issue)?.split('.')[0] ?? '', `${issue.message}.`)
    }
    const client = nodeClientOf(req, parts.config)
    return takeReport(parts, body.output, client, req.headers.cookie ?? null)
  }
  const answer = await orRefused(parts, show, LABELS)
  const read = (name: string) => fields.get(name) ?? ''
  const kind = REPORT_KINDS.find((one) => one === read('kind')) ?? 'new'
  return { answer, sent: { kind, about: read('about'), text: read('text'), links: read('links') } }
}

async function showReport({ ledger }: Parts, id: string): Promise<ReportAnswer> {
  const row = REPORT_ID.test(id) ? await findReport(ledger.store, id) : undefined
  if (row !== undefined) return { kind: 'report', report: toReportView(row) }
  return refuse('not-found', {
    detail: 'No report has this id. A report is deleted some time after it was decided.',
  })
}

/** Makes the endpoint's body from the form's fields. */
function toBody(fields: URLSearchParams): Record<string, unknown> {
  const read = (name: string) => fields.get(name)?.trim() ?? ''
  const [kind, about] = [read('kind'), read('about')]
  return {
    kind,
    // People may type a host without a scheme.
    about: kind === 'new' && !about.includes('://') ? `https://${about}` : about,
    // A text area ends its lines with CRLF.
    text: read('text').replaceAll('\r\n', '\n'),
    links: read('links')
      .split(/\s+/)
      .filter((line) => line !== ''),
    ...(read('email') !== '' && { email: read('email') }),
  }
}

/** Accepts a report. Only a valid report is counted against the limit, so that a typo costs nothing. */
async function takeReport(
  parts: Parts,
  sent: ReportBody,
  client: string,
  cookie: string | null,
): Promise<ReportAnswer> {
  const body = { ...sent, about: withAsciiHosts(sent.about) }
  refuseWrong(parts, body)
  await countAgainst(parts, body.kind === 'dispute' ? 'dispute' : 'propose', client)
  const subject = await findSubject(parts, body)
  if ('kind' in subject) return subject
  const { ledger, clock } = parts
  const isOwners = await isFromOwner(parts, subject, cookie)
  const email = body.email === undefined ? null : parseEmailAddress(body.email)
  const sender = { email, isOwners, now: clock.now() }
  const added = await addReport(ledger.store, body, subject, sender)
  if ('report' in added) return { kind: 'report', report: toReportView(added.report) }
  return refuse('reports-full', {
    detail: FULL[added.full],
    headers: { 'Retry-After': '86400' },
  })
}

/** Checked only for disputes, because only disputes have places reserved for the owner. */
async function isFromOwner(
  parts: Parts,
  { listing_id, receipt }: Subject,
  cookie: string | null,
): Promise<boolean> {
  if (receipt === null || listing_id === null) return false
  const seller = await createSessions(parts).read(cookie)
  if (seller === null) return false
  const claims = parts.ledger.store.db
    .selectFrom('claim')
    .where((eb) => eb.and({ listing_id, seller_id: seller.id, state: 'verified' }))
  return (await countRows(claims)) > 0
}

function refuseWrong(parts: Parts, { kind, about, text, email }: ReportBody): void {
  const fault = kind === 'new' ? findAddressFault(parts, about) : null
  if (fault !== null) refuseField('about', fault)
  const least = MIN_TEXT_LENGTH[kind]
  if (lengthOf(text) < least) refuseField('text', `expected at least ${least} characters.`)
  // The answer does not repeat what was sent: proxies may log it.
  if (email !== undefined && parseEmailAddress(email) === null)
    refuseField('email', 'expected one plain address such as ann@shop.example.')
}

/** The subject of a report; a report of a new service is settled if a listing has its exact address. */
async function findSubject(
  parts: Parts,
  { kind, about }: ReportBody,
): Promise<Subject | ReportAnswer> {
  const release = parts.release()
  if (kind === 'new') {
    const listed = findListed(release.listings.values(), about)
    if (listed !== undefined) return { kind: 'listed', listing_id: listed.id }
    return { url: about, listing_id: null, receipt: null }
  }
  if (kind === 'dispute' && !release.site.switches.trust)
    refuse('not-found', { detail: 'This directory does not accept disputes.' })
  const isReceipt = kind === 'dispute' && v.is(ReceiptIdSchema, about)
  const receipt = isReceipt ? await findReceipt(parts.ledger.store, about) : null
  if (isReceipt && receipt === null)
    refuse('receipt-not-found', { detail: 'No receipt has this id.' })
  const listing_id = receipt?.listingId ?? about
  if (!release.listings.has(listing_id))
    refuse('listing-not-found', { detail: toUnknownText(release, listing_id) })
  return { url: null, listing_id, receipt: receipt === null ? null : about }
}

function findAddressFault({ config, release }: Parts, url: string): string | null {
  const fault = findUrlFault(url, { allowPrivate: privateTargetsOf('stranger', config) })
  if (fault !== null) return `${fault}.`
  if (isOwnHost(new URL(url), new URL(config.BASE_URL)))
    return 'expected a service on another host: this host is ours.'
  return findListed(release().optedOut.values(), url) === undefined
    ? null
    : 'its owner asked not to be listed.'
}

function findListed<Listed extends { url: string }>(
  all: Iterable<Listed>,
  url: string,
): Listed | undefined {
  const plain = toPlain(url)
  return [...all].find((each) => toPlain(each.url) === plain)
}

/** @example toPlain('https://www.x.example/a/') → 'x.example/a' */
function toPlain(url: string): string {
  return url.replace(/^https?:\/\/(?:www\.)?/i, '').replace(/\/+$/, '')
}

/** How many reports may wait: as many as people can review, a few megabytes in all. */
const MAX_WAITING: Readonly<Record<ReportKind, number>> = { new: 500, wrong: 500, dispute: 1000 }
/**
 * Maximum number of waiting reports about one host without a listing: nobody lists a whole host endpoint by endpoint.
 */
const MAX_OF_HOST = 5
/** Maximum number of waiting reports of one kind about one listing: more would add nothing new. */
const MAX_OF_LISTING = 20
/**
 * How many disputes about one listing may wait before even the owner's are refused. Places are reserved for the
 * owner, so strangers who fill the queue cannot stop the owner from disputing a verdict.
 */
const MAX_FOR_OWNER = 2 * MAX_OF_LISTING

/** What a report is about, once resolved: an address, or a listing and perhaps one of its receipts. */
type Subject = Pick<ReportTable, 'url' | 'listing_id' | 'receipt'>
type AddedReport = { report: ReportTable } | { full: 'queue' | 'subject' }

/** Stores a report, unless the same report is stored or one about the same address is waiting. */
export async function addReport(
  { db }: Store,
  { kind, text, links }: Pick<ReportBody, 'kind' | 'text' | 'links'>,
  { url, listing_id, receipt }: Subject,
  { email, isOwners, now }: { email: string | null; isOwners: boolean; now: number },
): Promise<AddedReport> {
  const stated = JSON.stringify([kind, url, listing_id, receipt, text, ...links])
  const id = `r${hash('sha256', stated).slice(0, 18)}`
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

/** The limit that is reached; null if there is room. */
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
 * Stores a decision, and deletes the sender's address.
 * @returns false if somebody else decided the report meanwhile
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

function toReportView(row: ReportTable): ReportView {
  const { id, kind, state, reason, listing_id } = row
  return { id, kind, about: aboutOf(row), status: state, reason, listing_id }
}

/** Refuses the value of one form field. */
function refuseField(name: string, detail: string): never {
  return refuse('invalid-parameter', {
    detail: `${name}: ${detail}`,
    errors: [{ in: 'body', name, detail }],
  })
}

type ReportBody = v.InferOutput<typeof ReportBodySchema>

type ReportTaken = v.InferOutput<typeof ReportTakenSchema>
