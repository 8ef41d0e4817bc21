import { type SelectQueryBuilder, sql } from 'kysely'
import * as v from 'valibot'
import type { Receipt } from '../../../src/domain/receipts/receipt.ts'
import { toCanonicalJson } from '../../../src/domain/wire/canonical-json.ts'
import { isJsonObject, parseJson } from '../../../src/domain/wire/parse-json.ts'
import { inPieces } from '../../store/rows.ts'
import type { Store, Tables } from '../../store/schema/store.ts'

/**
 * How the ledger stores receipts: those of one operation within seconds share a row, so that many
 * calls at once cost one insert and a single call has its own row.
 */
export interface NewReceipt {
  receipt: Receipt
  /** Method and address of the operation. */
  call: string
  /** Hash of payee and payer. */
  payment: string | null
  /** Hash of both and of the signed nonce. */
  authorization: string | null
}

export interface KeptReceipt extends NewReceipt {
  position: number
}

/** Most receipts of a page: reading one of them means reading all. */
export const PAGE_SIZE = 64
/** Pages read at once. */
const PAGES_A_READ = 64
/** Calls of one page came within this time (milliseconds). */
const SPAN_MS = 4_096
const TIME_BYTES = 6

/**
 * An id with the time of its call, so that its page is found without an index of ids.
 * @param random 16 bytes
 */
export function toReceiptId(at: number, random: Uint8Array): string {
  const id = Buffer.from(random)
  id.writeUIntBE(at, 0, TIME_BYTES)
  return id.toString('base64url')
}

export function spanOf(at: number): number {
  return Math.floor(at / SPAN_MS)
}

function spanOfId(id: string): number {
  return spanOf(Buffer.from(id, 'base64url').readUIntBE(0, TIME_BYTES))
}

/** @returns rows for receipts that are added at a position, and the leaves of the log in the order of these rows */
export function toPages(
  start: number,
  receipts: readonly NewReceipt[],
): { rows: Tables['receipt_page'][]; leaves: string[] } {
  const groups = Map.groupBy(
    receipts,
    ({ receipt, call }) => `${spanOfId(receipt.id)} ${receipt.listing_id} ${call}`,
  )
  const pages = [...groups.values()].flatMap((group) => inPieces(group, PAGE_SIZE))
  const leaves = pages.flat().map(({ receipt }) => toCanonicalJson(receipt))
  const rows: Tables['receipt_page'][] = []
  let at = 0
  for (const page of pages) {
    const [first] = page
    if (first === undefined) continue
    const { listing_id, id } = first.receipt
    const entries = page.map((one, n) => toEntry(one, leaves[at + n] ?? ''))
    const text = `[${entries.join(',')}]`
    const own = { listing_id, call: first.call, span: spanOfId(id), receipts: text }
    rows.push({ position: start + at, ...own })
    at += page.length
  }
  return { rows, leaves }
}

function toEntry({ payment, authorization }: NewReceipt, body: string): string {
  return `{"authorization":${toText(authorization)},"payment":${toText(payment)},"receipt":${body}}`
}

/** A hash has no characters that need escaping. */
function toText(hash: string | null): string {
  return hash === null ? 'null' : `"${hash}"`
}

type PageQuery = SelectQueryBuilder<Tables, 'receipt_page', object>

/** The receipt with an id; null without one. */
export async function findReceipt(
  { db, dialect }: Pick<Store, 'db' | 'dialect'>,
  id: string,
): Promise<KeptReceipt | null> {
  const text = sql.ref('receipts')
  const named = `"id":"${id}"`
  const place =
    dialect === 'postgres'
      ? sql<number>`strpos(${text}, ${named})`
      : sql<number>`instr(${text}, ${named})`
  const found = await readPages(
    db.selectFrom('receipt_page').where('span', '=', spanOfId(id)).where(place, '>', 0),
  )
  return found.find(({ receipt }) => receipt.id === id) ?? null
}

/** Which of these ids exist. */
export async function findKnown(
  { db }: Pick<Store, 'db'>,
  ids: readonly string[],
): Promise<Set<string>> {
  const spans = [...new Set(ids.map(spanOfId))]
  const known = await readPages(db.selectFrom('receipt_page').where('span', 'in', spans))
  return new Set(known.map(({ receipt }) => receipt.id))
}

/** Receipts in some ranges of positions, in order. */
export async function readRuns(
  { db }: Pick<Store, 'db'>,
  runs: readonly { from: number; count: number }[],
): Promise<KeptReceipt[]> {
  if (runs.length === 0) return []
  const pages = db
    .selectFrom('receipt_page')
    .where((eb) =>
      eb.or(
        runs.map(({ from, count }) =>
          eb.and([eb('position', '>', from - PAGE_SIZE), eb('position', '<', from + count)]),
        ),
      ),
    )
  const found = await readPages(pages.orderBy('position'))
  return found.filter(({ position }) =>
    runs.some(({ from, count }) => position >= from && position < from + count),
  )
}

/** Receipts of a listing since a time, in batches, oldest first to within a few seconds. */
export async function* readPagesOf({ db }: Pick<Store, 'db'>, listingId: string, since: number) {
  const all = db
    .selectFrom('receipt_page')
    .where('listing_id', '=', listingId)
    .where('span', '>=', spanOf(since))
    .orderBy('span')
    .orderBy('position')
    .limit(PAGES_A_READ)
  for (let rows = await all.selectAll().execute(); ; ) {
    yield rows.flatMap(parsePage).filter(({ receipt }) => Date.parse(receipt.at) > since)
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGES_A_READ) return
    const place = sql`(${last.span}, ${last.position})`
    rows = await all.where(sql<boolean>`(span, position) > ${place}`).selectAll().execute()
  }
}

export async function readPages(pages: PageQuery): Promise<KeptReceipt[]> {
  return (await pages.selectAll().execute()).flatMap(parsePage)
}

/** A build reads every receipt of a month: the ledger's own rows are not validated again. */
const PageSchema = v.array(
  v.object({
    authorization: v.nullable(v.string()),
    payment: v.nullable(v.string()),
    receipt: v.custom<Receipt>(isJsonObject),
  }),
)

function parsePage({ position, call, receipts }: Tables['receipt_page']): KeptReceipt[] {
  return v
    .parse(PageSchema, parseJson(receipts))
    .map((entry, at) => ({ ...entry, call, position: position + at }))
}
