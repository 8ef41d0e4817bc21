import { createPrivateKey, createPublicKey, hash, hkdfSync, sign } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import * as v from 'valibot'
import { isInTime } from '../../src/domain/relay/delivered.ts'
import {
  type Receipt,
  ReceiptIdSchema,
  type ReceiptKeys,
  ReceiptSchema,
  type ReceiptView,
  toSignedReceipt,
} from '../../src/domain/relay/receipt.ts'
import { parseJson } from '../../src/domain/wire/json.ts'
import type { Handler, Parts } from '../features/feature.ts'
import { countAgainst } from '../features/routes.ts'
import { publicJson } from '../http/answers.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import { clientOf } from '../server/rate-limits.ts'
import { createLoop, inPieces, insertTogether, type Store, type Tables } from '../store/store.ts'

/** A receipt with the facts that the ledger keeps about it. */
export interface NewReceipt {
  receipt: Receipt
  /** The operation's method and address. */
  call: string
  /** Hash of payee and payer. */
  payment: string | null
  /** Hash of payee, payer and the signed nonce. */
  authorization: string | null
  /** Whether the seller's answer names the transaction. */
  isNamed: boolean
}

/**
 * Receipts for paid calls in the ledger, one row each.
 *
 * Security model: a call whose answer names a transaction becomes a receipt at once. Any other call
 * waits in memory until the meter finds the payment that its payer signed, so that omitting the
 * settlement header does not avoid a verdict; invented payments leave no receipt.
 *
 * Known limitations: a killed server loses its waiting calls and the receipts that it had not
 * written; nobody could read them before.
 */
export function openReceipts(parts: { store: Store; clock: Clock; log: Log }) {
  const { store, clock } = parts
  const writer = createWriter(parts)
  const waiting = createWaitingCalls(clock)
  return {
    /** Keeps a receipt. Returns at once. */
    add: writer.add,
    /** Keeps a receipt once its payment is found. @param client the network that called */
    wait: waiting.add,
    hasWaitedSince: waiting.hasWaitedSince,
    /**
     * Looks for the waiting calls' payments. If several calls carried the same payment, the
     * earliest gets a receipt: anybody who copies a payment from the chain comes later.
     */
    async findPayments(): Promise<void> {
      for (const { authorization, transaction, at } of await findSettled(store, waiting.list())) {
        const [found] = waiting
          .take(authorization)
          .filter(({ receipt }) => isInTime({ called_at: Date.parse(receipt.at) }, { at }))
          .sort((a, b) => (a.receipt.at < b.receipt.at ? -1 : 1))
        if (found !== undefined)
          writer.add({ ...found, receipt: { ...found.receipt, transaction } })
      }
    },
    /** Resolves when every receipt added so far has been written or has failed. */
    written: writer.written,
    close: writer.close,
  }
}

const TIME_BYTES = 6

/**
 * An id that begins with the time of its call, so that rows are inserted in id order.
 * @param random 16 bytes; the time is written into them
 */
export function toReceiptId(at: number, random: Buffer): string {
  random.writeUIntBE(at, 0, TIME_BYTES)
  return random.toString('base64url')
}

/** How long after the end of a day its file is complete (milliseconds): no receipt comes later. */
export const DAY_CLOSES_MS = 2 * 3_600_000
/** The longest time after a call at which its receipt is still written (milliseconds). */
const LATEST_MS = DAY_CLOSES_MS - 15 * 60_000
const MAX_BATCH = 1_000
/** How many receipts wait while the store is down; any more are dropped. */
const MAX_UNWRITTEN = 5_000
/** Receipts from this time span are written together (milliseconds). */
const GATHER_MS = 500
const RETRY_MS = 1_000

function createWriter({ store, clock, log }: { store: Store; clock: Clock; log: Log }) {
  const unwritten: NewReceipt[] = []
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const loop = createLoop(async () => {
    // Receipts that arrive meanwhile wait for the next round, so that transactions stay large.
    for (let left = unwritten.length; left > 0; ) {
      const batch = unwritten.slice(0, Math.min(left, MAX_BATCH))
      await insertReceipts(store, batch, clock.now() - LATEST_MS)
      unwritten.splice(0, batch.length)
      left -= batch.length
    }
  })
  const flush = async (): Promise<void> => {
    timer = undefined
    try {
      await loop.run()
    } catch (error) {
      const reason = String(error).slice(0, 200)
      log.error('receipts.not_written', { reason, waiting: unwritten.length })
      if (!isClosed) start(RETRY_MS)
    }
  }
  const start = (ms: number) => {
    timer ??= setTimeout(() => void flush(), ms)
  }
  const written = async (): Promise<void> => {
    clearTimeout(timer)
    await flush()
  }
  return {
    add(receipt: NewReceipt): void {
      if (unwritten.length >= MAX_UNWRITTEN || isClosed) return
      unwritten.push(receipt)
      start(GATHER_MS)
    },
    written,
    async close(): Promise<void> {
      isClosed = true
      await written()
    },
  }
}

/** Retrying a stored batch stores nothing twice. @param since calls before this time are left out */
export async function insertReceipts(
  { db, dialect }: Store,
  batch: readonly NewReceipt[],
  since = 0,
): Promise<void> {
  const rows = batch.map(toRow).filter(({ called_at }) => called_at > since)
  if (rows.length > 0)
    await db.transaction().execute((trx) => insertTogether({ db: trx, dialect }, 'receipt', rows))
}

function toRow({ receipt, call, payment, authorization, isNamed }: NewReceipt): Tables['receipt'] {
  return {
    id: receipt.id,
    listing_id: receipt.listing_id,
    call,
    called_at: Date.parse(receipt.at),
    // The receipt's members are in the order of canonical JSON, see `judgeCall`.
    receipt: JSON.stringify(receipt),
    payment_hash: payment,
    authorization_hash: authorization,
    is_named: Number(isNamed),
  }
}

/** Limits on calls waiting for their payments to be found: how long (milliseconds), and how many. */
const WAITING = { ms: 3_600_000, ofClient: 120, ofListing: 500, inAll: 5_000 }

interface WaitingCall {
  receipt: NewReceipt
  client: string
  at: number
}

/**
 * Anybody can write a payment header, so the number of waiting calls is limited. A client over its limit loses its
 * oldest call; otherwise the client or listing with the most calls loses its oldest.
 */
function createWaitingCalls(clock: Clock) {
  // The waiting calls in order of arrival.
  const all = new Set<WaitingCall>()
  const drop = (call: WaitingCall | undefined) => void (call !== undefined && all.delete(call))
  const dropExpired = () => {
    for (const call of all) {
      if (call.at > clock.now() - WAITING.ms) return
      drop(call)
    }
  }
  const listingOf = ({ receipt }: WaitingCall) => receipt.receipt.listing_id
  const dropFrom = (calls: readonly WaitingCall[]) =>
    drop(largestOf(Map.groupBy(calls, ({ client }) => client))[0])
  return {
    add(receipt: NewReceipt, client: string): void {
      dropExpired()
      all.add({ receipt, client, at: clock.now() })
      if (all.size <= WAITING.ofClient) return
      const ofClient = [...all].filter((call) => call.client === client)
      if (ofClient.length > WAITING.ofClient) drop(ofClient[0])
      if (all.size <= WAITING.ofListing) return
      const ofListing = [...all].filter((call) => listingOf(call) === receipt.receipt.listing_id)
      if (ofListing.length > WAITING.ofListing) dropFrom(ofListing)
      if (all.size > WAITING.inAll) dropFrom(largestOf(Map.groupBy(all, listingOf)))
    },
    list(): NewReceipt[] {
      dropExpired()
      return [...all].map(({ receipt }) => receipt)
    },
    take(authorization: string): NewReceipt[] {
      const found = [...all].filter(({ receipt }) => receipt.authorization === authorization)
      for (const call of found) drop(call)
      return found.map(({ receipt }) => receipt)
    },
    hasWaitedSince: (since: number) => [...all].some(({ at }) => at > since),
  }
}

function largestOf(groups: ReadonlyMap<string, readonly WaitingCall[]>): readonly WaitingCall[] {
  return [...groups.values()].reduce((most, own) => (own.length > most.length ? own : most), [])
}

/** The transactions in which the meter saw the payments that the payers of these calls signed. */
async function findSettled({ db }: Store, calls: readonly NewReceipt[]) {
  const [first] = calls
  if (first === undefined) return []
  const wanted = [...new Set(calls.map(({ authorization }) => authorization ?? ''))]
  const since = Date.parse(first.receipt.at) - WAITING.ms
  const found: { authorization: string; transaction: string; at: number }[] = []
  for (const some of inPieces(wanted)) {
    const rows = await db
      .selectFrom('settlement')
      .select(['authorization_hash', 'transaction_id', 'settled_at'])
      .where('settled_at', '>', since)
      .where('authorization_hash', 'in', some)
      .execute()
    for (const { authorization_hash, transaction_id: transaction, settled_at: at } of rows)
      found.push({ authorization: authorization_hash ?? '', transaction, at })
  }
  return found
}

/** @returns the receipt, with its listing's new id if the listing moved; null if there is none */
export async function findReceipt(
  { db }: Pick<Store, 'db'>,
  id: string,
): Promise<{ receipt: Receipt; listingId: string } | null> {
  const row = await db
    .selectFrom('receipt')
    .select(['receipt', 'listing_id'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (row === undefined) return null
  return { receipt: v.parse(ReceiptSchema, parseJson(row.receipt)), listingId: row.listing_id }
}

/** The public receipt endpoints, with which anybody can verify receipts without trusting us. */
export function createReceiptsFeature(parts: Parts) {
  const { config, problem, ledger } = parts
  const { store } = ledger
  const signer = createSigner(store, parts.clock)
  const counted =
    (answer: Handler): Handler =>
    async (event) => {
      await countAgainst(parts, 'search', clientOf(event.req, config))
      return answer(event)
    }
  const routes = {
    receipt: counted(async ({ context }) => {
      const id = context.params?.receipt_id ?? ''
      const found = v.is(ReceiptIdSchema, id) ? await findReceipt(store, id) : null
      if (found === null)
        return problem('receipt-not-found', {
          ...(id.endsWith('.txt')
            ? { detail: NO_DAY }
            : { detail: NOT_YET, headers: { 'Retry-After': '1' } }),
        })
      const { receipt } = found
      const { id: key, sign } = await signer()
      const view: ReceiptView = { receipt, key, signature: sign(toSignedReceipt(receipt)) }
      return publicJson(view, SHORT)
    }),
    receipt_keys: counted(async () => {
      // Creates the key for a directory that has never signed anything.
      await signer()
      return publicJson(await readReceiptKeys(store, config.RECEIPTS), SHORT)
    }),
  }
  return { routes }
}

/** A receipt never changes, but the key that signs it may change. */
const SHORT = { 'Cache-Control': 'public, max-age=30' }
const NOT_YET =
  'No receipt has this id yet. A receipt is stored a moment after its call ended; if the answer named no transaction, it is stored when its payment is found on the chain, within the hour.'
const NO_DAY = 'This day is not published. /api/v1/receipts/days.json lists the published days.'

/** The key that signs receipts and days. */
export interface Signer {
  id: string
  /** Base64url of 32 bytes. */
  publicKey: string
  /** Base64url. A text always has the same signature (RFC 8032), so it can be made whenever it is needed. */
  sign(text: Uint8Array): string
}

/** The prefix of an Ed25519 key in PKCS #8 (RFC 8410); the key's 32 bytes follow. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
/** How long a key that another process has rotated out may still sign (milliseconds). */
const TRUSTED_MS = 30_000

/**
 * The current key; the first call makes a key.
 * @param purpose the one purpose of a key that is derived from the current key (RFC 5869) and rotates with it
 */
export function createSigner(store: Store, clock: Clock, purpose?: string): () => Promise<Signer> {
  let known: { signer: Signer; at: number } | null = null
  return async () => {
    // Negative if the clock was set back.
    const age = clock.now() - (known?.at ?? 0)
    if (known !== null && age >= 0 && age < TRUSTED_MS) return known.signer
    const signer = toSigner(await findOrMakeKey(store, clock.now()), purpose)
    known = { signer, at: clock.now() }
    return signer
  }
}

async function findOrMakeKey(store: Store, now: number): Promise<{ id: string; secret: string }> {
  const find = async () => {
    const row = await store.db
      .selectFrom('receipt_key')
      .select(['id', 'secret'])
      .where('retired_at', 'is', null)
      .orderBy('created_at')
      .orderBy('id')
      .executeTakeFirst()
    return row === undefined || row.secret === null ? null : { id: row.id, secret: row.secret }
  }
  const found = await find()
  if (found !== null) return found
  await insertKey(store, now)
  // If two servers start at once, both take the older key.
  const made = await find()
  if (made === null) throw new Error('The key that signs receipts could not be stored.')
  return made
}

/** Replaces the current key. Signed receipts stay valid: the old key stays published. */
export async function rotateKeys(store: Store, now: number): Promise<{ id: string }> {
  const { id } = await insertKey(store, now)
  await store.db
    .updateTable('receipt_key')
    .set({ retired_at: now, secret: null })
    .where('id', '!=', id)
    .where('retired_at', 'is', null)
    .execute()
  return { id }
}

async function insertKey({ db }: Store, now: number): Promise<{ id: string }> {
  const secret = ed25519.utils.randomSecretKey()
  const publicKey = ed25519.getPublicKey(secret)
  const row = {
    id: hash('sha256', publicKey).slice(0, 16),
    public_key: Buffer.from(publicKey).toString('base64url'),
    secret: Buffer.from(secret).toString('base64url'),
    created_at: now,
    retired_at: null,
  }
  await db.insertInto('receipt_key').values(row).execute()
  return { id: row.id }
}

function toSigner({ id, secret }: { id: string; secret: string }, purpose?: string): Signer {
  const kept = Buffer.from(secret, 'base64url')
  const own = purpose === undefined ? kept : hkdfSync('sha256', kept, '', purpose, kept.length)
  const der = Buffer.concat([PKCS8, new Uint8Array(own)])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x: publicKey = '' } = createPublicKey(key).export({ format: 'jwk' })
  return { id, publicKey, sign: (text) => sign(null, text, key).toString('base64url') }
}

/** `GET /.well-known/receipt-keys.json`: all keys, past and present. */
export async function readReceiptKeys({ db }: Store, isOn: boolean): Promise<ReceiptKeys> {
  const rows = await db
    .selectFrom('receipt_key')
    .select(['id', 'public_key', 'created_at', 'retired_at'])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return {
    receipts: isOn ? 'on' : 'off',
    keys: rows.map(({ id, public_key, created_at, retired_at }) => ({
      id,
      algorithm: 'Ed25519',
      public_key,
      from: new Date(created_at).toISOString(),
      ...(retired_at !== null && { until: new Date(retired_at).toISOString() }),
    })),
  }
}
