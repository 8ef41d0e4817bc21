import { createPrivateKey, hash, type KeyObject, sign } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import type { ReceiptKeys } from '../../../src/domain/receipts/receipt.ts'
import { ROUTES } from '../../../src/domain/wire/route-table.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../store/schema/store.ts'

/** The key that signs receipts and heads. */
export interface Signer {
  id: string
  /** Base64url. A text always has the same signature (RFC 8032), so it can be made on reading. */
  sign(text: Uint8Array): string
}

/** PKCS #8 of an Ed25519 key (RFC 8410) is this, and its 32 bytes. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** How long a key rotated out in another process may still sign (milliseconds). */
const TRUSTED_MS = 30_000

export type ReceiptSigners = ReturnType<typeof createSigners>

/** The current key; the first call makes one. */
export function createSigners(store: Store, clock: Clock) {
  let known: { signer: Signer; at: number } | null = null
  return async (): Promise<Signer> => {
    // Negative where the clock was set back.
    const age = clock.now() - (known?.at ?? 0)
    if (known !== null && age >= 0 && age < TRUSTED_MS) return known.signer
    const signer = toSigner(await findOrMakeKey(store, clock.now()))
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
  // Two servers that started at once both take the older key.
  const made = await find()
  if (made === null) throw new Error('The key that signs receipts could not be kept.')
  return made
}

/** Replaces the current key. Signed receipts stay valid: the old key stays published. */
export async function rotateKeys(store: Store, now: number): Promise<{ id: string }> {
  const { id } = await insertKey(store, now)
  const heads = store.db.selectFrom('receipt_head').select(({ fn }) => fn.max('at').as('newest'))
  const { newest } = await heads.executeTakeFirstOrThrow()
  await store.db
    .updateTable('receipt_key')
    // Its signatures from before the clock was set back stay valid.
    .set({ retired_at: Math.max(now, Number(newest ?? 0)), secret: null })
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

function toSigner({ id, secret }: { id: string; secret: string }): Signer {
  const der = Buffer.concat([PKCS8, Buffer.from(secret, 'base64url')])
  const key: KeyObject = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  return { id, sign: (text) => sign(null, text, key).toString('base64url') }
}

/** `GET /.well-known/receipt-keys.json`: all keys, past and present. */
export async function readReceiptKeys(
  { db }: Store,
  { baseUrl, isOn }: { baseUrl: string; isOn: boolean },
): Promise<ReceiptKeys> {
  const rows = await db
    .selectFrom('receipt_key')
    .select(['id', 'public_key', 'created_at', 'retired_at'])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return {
    log: `${baseUrl}${ROUTES.receipt_log.path}`,
    witness: isOn ? 'on' : 'off',
    keys: rows.map(({ id, public_key, created_at, retired_at }) => ({
      id,
      algorithm: 'Ed25519',
      public_key,
      from: new Date(created_at).toISOString(),
      ...(retired_at !== null && { until: new Date(retired_at).toISOString() }),
    })),
  }
}
