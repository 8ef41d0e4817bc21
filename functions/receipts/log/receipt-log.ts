import { hash } from 'node:crypto'
import { appendLeaves, foldPeaks } from '../../../src/domain/receipts/merkle-log.ts'
import { toSignedHead } from '../../../src/domain/receipts/receipt.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import { insertTogether } from '../../store/rows.ts'
import type { Store, Tables } from '../../store/schema/store.ts'
import { createLoop } from '../../store/work-loop.ts'
import type { ReceiptSigners } from './receipt-keys.ts'
import { findKnown, type NewReceipt, PAGE_SIZE, toPages } from './receipt-pages.ts'

/**
 * The append-only log of receipts: nothing in it is changed, removed or inserted.
 *
 * Security model: the server that appends holds the one row of `receipt_log` to the end of its
 * transaction, so that servers append one after the other, and a receipt is in the log or not at
 * all. A head is signed over the same row, so that no two heads of one size differ. Receipts that a
 * killed server had not written are lost, but were never published.
 *
 * Known limit: a restored backup knows less than heads published before. Copies of the log show it.
 */
const MAX_BATCH = 1_000
/** Receipts that wait for a store that is down; more are dropped. */
const MAX_WAITING = 5_000
/** Receipts of this time span are written together (milliseconds). */
const GATHER_MS = 500
const RETRY_MS = 1_000
export const HEAD_EVERY_MS = 60_000
/**
 * A head this far in the future was signed before the clock was set back: waiting for its time
 * could leave days without one, so the next is dated just after it (milliseconds).
 */
const CLOCK_SET_BACK_MS = 5 * 60_000
/**
 * Level of the smallest stored subtrees: each covers the receipts of one page. Lower nodes are
 * hashed from the receipts when a proof is read.
 */
export const KEPT_LEVEL = Math.log2(PAGE_SIZE)
const LOG = 'receipts'

export const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')
export const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
export const fromHex = (text: string): Uint8Array => Buffer.from(text, 'hex')

export function createReceiptLog(parts: {
  store: Store
  clock: Clock
  log: Log
  /** Address of the log, which its heads name. */
  address: string
  signers: ReceiptSigners
}) {
  const { store, log } = parts
  const waiting: NewReceipt[] = []
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  /** The last batch got no answer: it may be stored nevertheless. */
  let isUnsure = false
  const loop = createLoop(async () => {
    // Receipts that arrive meanwhile are collected again: else each transaction would hold those of
    // a few milliseconds.
    for (let left = waiting.length; left > 0; ) {
      const batch = waiting.slice(0, Math.min(left, MAX_BATCH))
      const wasUnsure = isUnsure
      isUnsure = true
      await appendReceipts(store, batch, { isUnsure: wasUnsure })
      isUnsure = false
      waiting.splice(0, batch.length)
      left -= batch.length
    }
  })
  const flush = async (): Promise<void> => {
    timer = undefined
    try {
      await loop.run()
    } catch (error) {
      log.error('receipts.not_written', {
        reason: String(error).slice(0, 200),
        waiting: waiting.length,
      })
      if (!isClosed) start(RETRY_MS)
    }
  }
  const start = (ms: number) => {
    timer ??= setTimeout(() => void flush(), ms)
  }
  return {
    /** Keeps a receipt. Returns at once; false when the log has no room for it. */
    add(receipt: NewReceipt): boolean {
      if (waiting.length >= MAX_WAITING || isClosed) return false
      waiting.push(receipt)
      start(GATHER_MS)
      return true
    },
    /** Resolves when everything added so far is written, or failed to be. */
    async written(): Promise<void> {
      clearTimeout(timer)
      await flush()
    },
    /** Signs the log, if it has grown since the newest head and that is a minute old. */
    signHead: () => signHead(parts),
    async close(): Promise<void> {
      isClosed = true
      clearTimeout(timer)
      await flush()
    },
  }
}

/** Appends in one transaction. @param isUnsure some may be stored already, after a lost answer */
export async function appendReceipts(
  store: Store,
  batch: readonly NewReceipt[],
  { isUnsure = true } = {},
): Promise<void> {
  await store.db.transaction().execute(async (trx) => {
    const target = { db: trx, dialect: store.dialect }
    const { size, peaks } = await holdLog(trx, store.dialect)
    const ids = batch.map(({ receipt }) => receipt.id)
    const isKnown = isUnsure ? await findKnown(target, ids) : null
    const fresh = batch.filter(({ receipt }) => isKnown?.has(receipt.id) !== true)
    if (fresh.length === 0) return
    const { rows, leaves } = toPages(size, fresh)
    const grown = appendLeaves(sha256, { size, peaks }, leaves.map(toLeafHash))
    const nodes = grown.nodes
      .filter(({ level }) => level >= KEPT_LEVEL)
      .map(({ level, place, hash }) => ({ level, place, hash: toHex(hash) }))
    await insertTogether(target, 'receipt_page', rows)
    await insertTogether(target, 'receipt_node', nodes)
    await trx
      .updateTable('receipt_log')
      .set({ size: grown.size, peaks: grown.peaks.map(toHex).join(',') })
      .where('name', '=', LOG)
      .execute()
  })
}

/** The hash of a leaf, without a copy of it as bytes. @param leaf canonical JSON of a receipt */
export function toLeafHash(leaf: string): Uint8Array {
  return hash('sha256', `\0${leaf}`, 'buffer')
}

/** The log's row, held to the end of the transaction: SQLite has one writer anyway. */
async function holdLog(db: Store['db'], dialect: Store['dialect']) {
  const row = db.selectFrom('receipt_log').selectAll().where('name', '=', LOG)
  const held = dialect === 'postgres' ? row.forUpdate() : row
  const found = await held.executeTakeFirst()
  if (found !== undefined) return toTree(found)
  await db
    .insertInto('receipt_log')
    .values({ name: LOG, size: 0, peaks: '' })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  return toTree(await held.executeTakeFirstOrThrow())
}

function toTree({ size, peaks }: Tables['receipt_log']) {
  return { size, peaks: peaks === '' ? [] : peaks.split(',').map(fromHex) }
}

async function signHead({
  store,
  clock,
  address,
  signers,
}: Parameters<typeof createReceiptLog>[0]): Promise<void> {
  const { db, dialect } = store
  const signer = await signers()
  const now = clock.now()
  await db.transaction().execute(async (trx) => {
    const { size, peaks } = await holdLog(trx, dialect)
    const newest = await trx
      .selectFrom('receipt_head')
      .select(['size', 'at'])
      .orderBy('size', 'desc')
      .limit(1)
      .executeTakeFirst()
    if (size === (newest?.size ?? 0)) return
    const age = now - (newest?.at ?? 0)
    if (age < HEAD_EVERY_MS && age > -CLOCK_SET_BACK_MS) return
    const at = Math.max(now, (newest?.at ?? 0) + 1)
    const root = toHex(foldPeaks(sha256, peaks))
    const head = { size, root, at: new Date(at).toISOString() }
    const signature = signer.sign(toSignedHead(address, head))
    const row = { size, root, at, key_id: signer.id, signature }
    await trx.insertInto('receipt_head').values(row).execute()
  })
}
