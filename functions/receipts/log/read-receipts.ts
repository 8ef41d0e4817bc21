import {
  appendLeaves,
  consistencyNodes,
  foldPeaks,
  inclusionNodes,
  type Node,
} from '../../../src/domain/receipts/merkle-log.ts'
import {
  type LogHead,
  type Receipt,
  type ReceiptLogView,
  type ReceiptView,
  toSignedReceipt,
} from '../../../src/domain/receipts/receipt.ts'
import { toCanonicalJson } from '../../../src/domain/wire/canonical-json.ts'
import type { Store } from '../../store/schema/store.ts'
import type { Signer } from './receipt-keys.ts'
import { fromHex, KEPT_LEVEL, sha256, toHex, toLeafHash } from './receipt-log.ts'
import { findReceipt, readRuns } from './receipt-pages.ts'

/** Receipts in one answer to a copy. */
export const MAX_ENTRIES = 500

/** @returns null where it is not in the log */
export async function readReceipt(
  store: Store,
  id: string,
  signer: Signer,
): Promise<ReceiptView | null> {
  const found = await findReceipt(store, id)
  if (found === null) return null
  const { receipt, position } = found
  const head = await readHead(store)
  const isUnder = head !== null && head.size > position
  return {
    receipt,
    key: signer.id,
    signature: signer.sign(toSignedReceipt(receipt)),
    position,
    head,
    inclusion: isUnder ? await prove(store, inclusionNodes(position, head.size)) : null,
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

/** The newest head, with the proof that it extends the log of `from` receipts. */
export async function readConsistency(
  store: Store,
  from: number | null,
): Promise<Pick<ReceiptLogView, 'head' | 'from' | 'consistency'>> {
  const head = await readHead(store)
  if (from === null || head === null || from > head.size) return { head }
  return { head, from, consistency: await prove(store, consistencyNodes(from, head.size)) }
}

export async function readEntries(store: Store, from: number): Promise<Receipt[]> {
  const found = await readRuns(store, [{ from, count: MAX_ENTRIES }])
  return found.map(({ receipt }) => receipt)
}

/** Computes each part of a proof from its nodes. */
async function prove(store: Store, parts: readonly (readonly Node[])[]): Promise<string[]> {
  const wanted = parts.flat()
  const kept = await readKept(
    store,
    wanted.filter(({ level }) => level >= KEPT_LEVEL),
  )
  const leaves = await readLeaves(
    store,
    wanted.filter(({ level }) => level < KEPT_LEVEL),
  )
  const hashOf = (node: Node): Uint8Array => {
    if (node.level >= KEPT_LEVEL) return fromHex(kept.get(toKey(node)) ?? '')
    const own = positionsOf(node).map((position) => leaves.get(position) ?? new Uint8Array())
    return foldPeaks(sha256, appendLeaves(sha256, { size: 0, peaks: [] }, own).peaks)
  }
  return parts.map((nodes) => toHex(foldPeaks(sha256, nodes.map(hashOf))))
}

async function readKept({ db }: Store, nodes: readonly Node[]): Promise<Map<string, string>> {
  if (nodes.length === 0) return new Map()
  const rows = await db
    .selectFrom('receipt_node')
    .selectAll()
    .where((eb) => eb.or(nodes.map(({ level, place }) => eb.and({ level, place }))))
    .execute()
  return new Map(rows.map((row) => [toKey(row), row.hash]))
}

/** Hashes of the receipts under some small nodes, by position. */
async function readLeaves(store: Store, nodes: readonly Node[]): Promise<Map<number, Uint8Array>> {
  const runs = nodes.map(({ level, place }) => ({ from: place * 2 ** level, count: 2 ** level }))
  const found = await readRuns(store, runs)
  return new Map(
    found.map(({ position, receipt }) => [position, toLeafHash(toCanonicalJson(receipt))]),
  )
}

function positionsOf({ level, place }: Node): number[] {
  return Array.from({ length: 2 ** level }, (_, n) => place * 2 ** level + n)
}

function toKey({ level, place }: Node): string {
  return `${level} ${place}`
}
