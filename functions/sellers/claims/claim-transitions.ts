import type { Kysely } from 'kysely'
import type { ClaimCheckResult } from '../../../src/domain/views/seller-views.ts'
import type { ClaimMethod } from '../../../src/domain/wire/vocabulary.ts'
import type { MailQueue, MailTask } from '../../mails/mail-queue.ts'
import type { Ledger } from '../../parts/parts.ts'
import type { ClaimTable, Store, Tables } from '../../store/schema/store.ts'
import { isRetryable } from '../../store/schema/store-error.ts'
import type { Proof } from '../proofs/proof.ts'

const LAPSE_AFTER_MS = 7 * 86_400_000
/** How often a race for the same listing is retried before it is an error. */
const MAX_TRIES = 5

/**
 * Records the outcome of a proof. The claim may have changed during the proof, so each step names
 * the state it starts from; mails are sent exactly if the change is committed.
 *
 * @returns the claim in its current state
 */
export async function recordProof(
  { store, mails }: Pick<Ledger, 'store' | 'mails'>,
  claim: ClaimTable,
  proof: Proof,
  now: number,
): Promise<ClaimTable> {
  const last_check = JSON.stringify(toCheckResult(claim.method, proof, now))
  const seen = { last_checked_at: now, last_check }
  const settle = (trx: Kysely<Tables>) => {
    const step = { trx, mails, claim, seen }
    return proof.verified ? recordSuccess(step) : recordFailure(step, proof.reason ?? '')
  }
  try {
    await runWithRetry(store, settle)
  } catch (error) {
    if (!(error instanceof ClaimMovedOn)) throw error
  }
  return store.db
    .selectFrom('claim')
    .selectAll()
    .where('id', '=', claim.id)
    .executeTakeFirstOrThrow()
}

export function toCheckResult(
  method: ClaimMethod,
  { verified, expected, observed, reason, next }: Proof,
  checkedAt: number,
): ClaimCheckResult {
  const checked_at = new Date(checkedAt).toISOString()
  return { verified, method, checked_at, expected, observed, reason, next }
}

/** Records one check, in one transaction. */
interface Step {
  trx: Kysely<Tables>
  mails: MailQueue
  claim: ClaimTable
  seen: { last_checked_at: number; last_check: string }
}

async function recordSuccess(step: Step): Promise<void> {
  const { trx, mails, claim, seen } = step
  const now = seen.last_checked_at
  const still = await trx
    .updateTable('claim')
    .set({ ...seen, failing_since: null })
    .where((eb) => eb.and({ id: claim.id, state: 'verified' }))
    .returning('id')
    .execute()
  if (still.length > 0 || claim.state !== 'pending') return
  await supersedeOthers(step)
  // If another seller commits first, the unique index refuses this and the transaction runs again.
  const verified = await trx
    .updateTable('claim')
    .set({ ...seen, state: 'verified', verified_at: now, failing_since: null })
    .where((eb) => eb.and({ id: claim.id, state: 'pending' }))
    .where('expires_at', '>', now)
    .returning('id')
    .execute()
  if (verified.length === 0) throw new ClaimMovedOn()
  await notifySeller(trx, mails, claim, 'claim_verified')
}

/** The newer proof wins, because it shows who controls the host now. The older seller gets a mail. */
async function supersedeOthers({ trx, mails, claim }: Step): Promise<void> {
  const { id, listing_id, seller_id } = claim
  const others = await trx
    .updateTable('claim')
    .set({ state: 'superseded' })
    .where((eb) => eb.and({ listing_id, state: 'verified' }))
    .where('id', '<>', id)
    .returningAll()
    .execute()
  for (const other of others)
    if (other.seller_id !== seller_id) await notifySeller(trx, mails, other, 'claim_superseded')
}

async function recordFailure({ trx, mails, claim, seen }: Step, reason: string) {
  const now = seen.last_checked_at
  await trx.updateTable('claim').set(seen).where('id', '=', claim.id).execute()
  if (claim.state !== 'verified') return
  // Proof covers exactly one host: a listing that now points elsewhere was never proved.
  const isElsewhere = reason === 'host_changed'
  const isOverdue = claim.failing_since !== null && now - claim.failing_since >= LAPSE_AFTER_MS
  const isLapsing = isElsewhere || isOverdue
  const changed = await trx
    .updateTable('claim')
    .set(isLapsing ? { state: 'lapsed' } : { failing_since: now })
    .where((eb) => eb.and({ id: claim.id, state: 'verified' }))
    .$if(!isLapsing, (query) => query.where('failing_since', 'is', null))
    .returning('id')
    .execute()
  if (changed.length === 0) return
  await notifySeller(trx, mails, claim, isLapsing ? 'claim_lapsed' : 'claim_failing', reason)
}

async function findEmail(trx: Kysely<Tables>, sellerId: string): Promise<string> {
  const seller = trx.selectFrom('seller').select('email').where('id', '=', sellerId)
  return (await seller.executeTakeFirstOrThrow()).email
}

export async function notifySeller(
  trx: Kysely<Tables>,
  mails: MailQueue,
  claim: Pick<ClaimTable, 'seller_id' | 'listing_id' | 'host' | 'method'>,
  kind: Exclude<MailTask['kind'], 'sign_in' | 'listing_news'>,
  reason = '',
): Promise<void> {
  const { seller_id, listing_id, host, method } = claim
  const email = await findEmail(trx, seller_id)
  await mails.add(trx, email, { kind, listing_id, host, method, reason })
}

/** The claim was superseded, or expired, during its proof. */
class ClaimMovedOn extends Error {
  override name = 'ClaimMovedOn'
}

async function runWithRetry({ db }: Store, work: (trx: Kysely<Tables>) => Promise<void>) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await db.transaction().execute(work)
      return
    } catch (error) {
      if (attempt >= MAX_TRIES || !isRetryable(error)) throw error
    }
  }
}
