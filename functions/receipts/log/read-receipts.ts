import * as v from 'valibot'
import {
  consistencyNodes,
  foldPeaks,
  inclusionNodes,
  type Node,
} from '../../../src/domain/receipts/merkle-log.ts'
import {
  type LogHead,
  type Receipt,
  type ReceiptLogView,
  ReceiptSchema,
  type ReceiptView,
  toSignedReceipt,
} from '../../../src/domain/receipts/receipt.ts'
import { parseJson } from '../../../src/domain/wire/parse-json.ts'
import type { Store } from '../../store/schema/store.ts'
import type { Signer } from './receipt-keys.ts'
import { fromHex, sha256, toHex } from './receipt-log.ts'

/** Receipts of one answer of a copy. */
export const MAX_ENTRIES = 500

/** @returns null where the log does not have it */
export async function readReceipt(
  store: Store,
  id: string,
  signer: Signer,
): Promise<ReceiptView | null> {
  const row = await store.db
    .selectFrom('receipt')
    .select(['position', 'body'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (row === undefined) return null
  const receipt = toReceipt(row.body)
  const head = await readHead(store)
  const isUnder = head !== null && head.size > row.position
  return {
    receipt,
    key: signer.id,
    signature: signer.sign(toSignedReceipt(receipt)),
    position: row.position,
    head,
    inclusion: isUnder ? await prove(store, inclusionNodes(row.position, head.size)) : null,
  }
}

export async function readHead({ db }: Store): Promise<LogHead | null> {
  const row = await db
    .selectFrom('receipt_head')
    .selectAll()
    .orderBy('size', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (row === undefined) return null
  const { size, root, at, key_id: key, signature } = row
  return { size, root, at: new Date(at).toISOString(), key, signature }
}

/** The newest head, and that it extends the log of `from` receipts. */
export async function readConsistency(
  store: Store,
  from: number | null,
): Promise<Pick<ReceiptLogView, 'head' | 'from' | 'consistency'>> {
  const head = await readHead(store)
  if (from === null || head === null || from > head.size) return { head }
  return { head, from, consistency: await prove(store, consistencyNodes(from, head.size)) }
}

export async function readEntries({ db }: Store, from: number): Promise<Receipt[]> {
  const rows = await db
    .selectFrom('receipt')
    .select('body')
    .where('position', '>=', from)
    .orderBy('position')
    .limit(MAX_ENTRIES)
    .execute()
  return rows.map(({ body }) => toReceipt(body))
}

function toReceipt(body: string): Receipt {
  return v.parse(ReceiptSchema, parseJson(body))
}

/** Each part of a proof out of the nodes that it is made of: one query for all. */
async function prove({ db }: Store, parts: readonly (readonly Node[])[]): Promise<string[]> {
  const wanted = parts.flat()
  if (wanted.length === 0) return []
  const rows = await db
    .selectFrom('receipt_node')
    .selectAll()
    .where((eb) => eb.or(wanted.map(({ level, place }) => eb.and({ level, place }))))
    .execute()
  const found = new Map(rows.map(({ level, place, hash }) => [`${level} ${place}`, hash]))
  return parts.map((nodes) => {
    const hashes = nodes.map(({ level, place }) => fromHex(found.get(`${level} ${place}`) ?? ''))
    return toHex(foldPeaks(sha256, hashes))
  })
}
