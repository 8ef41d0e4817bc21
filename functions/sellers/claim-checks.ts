import type { H3Event } from 'h3'
import type { Kysely } from 'kysely'
import {
  hostOf,
  isProvedAt,
  judgeClaim,
  readClaimHost,
} from '../../src/domain/sellers/claim-rules.ts'
import type { ClaimChecked, ClaimCheckResult } from '../../src/domain/views/seller-views.ts'
import type { ClaimMethod, ClaimState } from '../../src/domain/wire/vocabulary.ts'
import type { Ledger, MailQueue, Parts } from '../features/feature.ts'
import { countAgainst } from '../features/routes.ts'
import { jsonAnswer, refuse } from '../http/answers.ts'
import { clientOf } from '../server/rate-limits.ts'
import { type ClaimTable, inPieces, isRetryable, type Store, type Tables } from '../store/store.ts'
import { claimRulesOf, expireClaims, findClaimable, LAPSE_AFTER_MS, toClaimView } from './claims.ts'
import { notifySeller } from './letters.ts'
import { createProver, missed, type Proof, type Prove, toProof } from './proofs.ts'
import { createSignedInRoute, type SellerRoute } from './sign-in.ts'

type ClaimParts = Pick<Parts, 'config' | 'clock' | 'log' | 'ledger' | 'resolver' | 'release'>

/** What a seller provides for a check: the email address, or a workflow's token. */
type Shown = Partial<Pick<Parameters<Prove>[0], 'email' | 'idToken'>>

/**
 * `POST /api/v1/sellers/claim/<claim_id>/check`. A failed proof is a 200 that says what was seen. A
 * workflow has no cookie: it sends its identity token, and gets 400 if the token proves nothing.
 */
export function createClaimCheck(parts: Parts): SellerRoute<ClaimChecked> {
  const { ledger, clock, config } = parts
  const { db } = ledger.store
  const prove = createProver(parts)
  const findClaim = (wanted: Partial<ClaimTable>) =>
    db
      .selectFrom('claim')
      .selectAll()
      .where((eb) => eb.and(wanted))
      .executeTakeFirst()
  const check = async (claim: ClaimTable | undefined, shown: Shown): Promise<ClaimChecked> => {
    if (claim === undefined)
      refuse('claim-not-found', { detail: 'You have no claim with this id.' })
    await countAgainst(parts, 'check', claim.id)
    const { proof, claim: after, checkedAt } = await checkClaim(parts, prove, claim, shown)
    ledger.mails.sendSoon()
    if (!proof.verified && shown.idToken !== undefined)
      refuse('token-invalid', {
        detail: `${proof.next} Expected: ${proof.expected}. Seen: ${proof.observed}.`,
      })
    return { claim: toClaimView(after), result: toCheckResult(after.method, proof, checkedAt) }
  }
  const bySeller = createSignedInRoute(parts, async ({ params }, { id: sellerId, email }) => {
    await expireClaims(db, sellerId, clock.now())
    // The query reads only the caller's own claims, so another seller's claim appears to be missing.
    const claim = await findClaim({ id: params.claim_id ?? '', seller_id: sellerId })
    return check(claim, claim?.method === 'oidc' ? { idToken: undefined } : { email })
  })
  const byWorkflow = async (event: H3Event) => {
    await countAgainst(parts, 'search', clientOf(event.req, config))
    const claim = await findClaim({ id: event.context.params?.claim_id ?? '', method: 'oidc' })
    return jsonAnswer(await check(claim, { idToken: idTokenOf(event) }))
  }
  const route = (event: H3Event) =>
    idTokenOf(event) === undefined ? bySeller(event) : byWorkflow(event)
  return Object.assign(route, { act: bySeller.act })
}

/** A JSON Web Token; a bearer token in any other form is for a closed directory. */
function idTokenOf({ req }: H3Event): string | undefined {
  const given = req.headers.get('authorization') ?? ''
  return /^bearer +([\w-]+\.[\w-]*\.[\w-]*)$/i.exec(given)?.[1]
}

/**
 * Looks for a claim's proof and records the outcome; the check endpoint and the daily re-verification both use this. An
 * invalid workflow token is not recorded, because anybody can send one.
 */
async function checkClaim(parts: ClaimParts, prove: Prove, claim: ClaimTable, shown: Shown) {
  const proof = findClosedReason(parts, claim) ?? (await proveAgain(parts, prove, claim, shown))
  const now = parts.clock.now()
  if (!proof.verified && 'idToken' in shown) return { claim, proof, checkedAt: now }
  const after = await recordProof(parts.ledger, claim, proof, now)
  if (!proof.verified || after.state === 'verified') return { claim: after, proof, checkedAt: now }
  // The proof was found, but meanwhile another seller proved the listing, or the claim expired.
  return { claim: after, proof: closed(after.state), checkedAt: now }
}

function findClosedReason(parts: ClaimParts, claim: ClaimTable): Proof | null {
  const isOpen = claim.state === 'pending' || claim.state === 'verified'
  if (!isOpen) return closed(claim.state)
  const release = parts.release()
  const listing = findClaimable(release, claim.listing_id)
  if (listing === undefined) {
    const next = 'The listing is not in the directory any more, so there is nothing to prove.'
    return toProof(`The directory lists ${claim.listing_id}.`, missed('listing_gone', null, next))
  }
  const host = hostOf(listing.url)
  if (!isProvedAt(listing.url, claim.host)) {
    const next = `The listing now points to ${host}. Start a new claim for it.`
    return toProof(`The listing's host is ${claim.host}.`, missed('host_changed', host, next))
  }
  // The rules for proofs may have become stricter since the claim was started.
  const verdict = judgeClaim(listing.url, claim.method, claimRulesOf(parts))
  if (verdict.allowed) return null
  const expected = `${claim.method} can prove control of ${claim.host}.`
  return toProof(expected, missed('method_unavailable', null, verdict.detail))
}

function proveAgain(
  parts: ClaimParts,
  prove: Prove,
  { listing_id, method, token, host }: ClaimTable,
  { email = '', idToken }: Shown,
): Promise<Proof> {
  const url = findClaimable(parts.release(), listing_id)?.url ?? `https://${host}`
  const claimHost = readClaimHost(url, method, claimRulesOf(parts))
  return prove({ host: claimHost, method, token, email, idToken })
}

function closed(state: ClaimState): Proof {
  const ended = state === 'superseded' || state === 'lapsed' ? state : 'expired'
  const next = 'This claim has ended and its token is void. Start a new claim; it gets a new token.'
  return toProof('An open claim.', missed(`claim_${ended}`, ended, next))
}

/** How often a race for the same listing is retried before it is an error. */
const MAX_TRIES = 5

/**
 * Records the outcome of a proof. The claim may have changed during the proof, so each step names
 * the state it starts from; emails are sent if and only if the change is committed.
 * @returns the claim in its current state
 */
async function recordProof(
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

function toCheckResult(
  method: ClaimMethod,
  { verified, ...seen }: Proof,
  checkedAt: number,
): ClaimCheckResult {
  return { verified, method, checked_at: new Date(checkedAt).toISOString(), ...seen }
}

/** What it takes to record one check, in one transaction. */
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
  // If another seller commits first, the unique index refuses this update, and the transaction runs again. The stored
  // method is the one that was proved: the seller may have chosen another method meanwhile.
  const proved = { state: 'verified' as const, method: claim.method }
  const verified = await trx
    .updateTable('claim')
    .set({ ...seen, ...proved, verified_at: now, failing_since: null })
    .where((eb) => eb.and({ id: claim.id, state: 'pending' }))
    .where('expires_at', '>', now)
    .returning('id')
    .execute()
  if (verified.length === 0) throw new ClaimMovedOn()
  await notifySeller(trx, mails, claim, 'claim_verified')
}

/** The newer proof wins, because it shows who controls the host now. The former owner gets an email. */
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
  // A proof covers exactly one host: a listing that now points to another host is not proved there.
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

/** Every verified claim is checked again once a day. */
const RECHECK_AFTER_MS = 20 * 3_600_000
/** A workflow sends its proof itself, so its claim is checked only after this long without a proof. */
const WORKFLOW_SILENT_MS = 30 * 86_400_000
const BATCH = 50
const AT_ONCE = 4

/**
 * Checks the verified claims that are due, even if their listings were opted out or removed; claims
 * on removed listings lapse as if the proof were gone. Instances may run this at the same time: a
 * claim is taken by moving its `last_checked_at`, so each claim is checked once.
 */
export async function reverifyClaims(parts: ClaimParts) {
  const prove = createProver(parts)
  const tally = { checked: 0, failing: 0, lapsed: 0 }
  // Fixed at the start: a claim checked in this run is not due again in the same run.
  const dueBefore = parts.clock.now() - RECHECK_AFTER_MS
  for (;;) {
    const due = await takeDueClaims(parts, dueBefore)
    if (due.length === 0) break
    for (const some of inPieces(due, AT_ONCE))
      await Promise.all(
        some.map(async (claim) => {
          const { claim: after } = await checkClaim(parts, prove, claim, { email: claim.email })
          tally.checked += 1
          if (after.state === 'lapsed') tally.lapsed += 1
          else if (after.failing_since !== null) tally.failing += 1
        }),
      )
    parts.ledger.mails.sendSoon()
  }
  if (tally.checked > 0) parts.log.info('claims.reverified', tally)
  return tally
}

async function takeDueClaims({ ledger, clock }: ClaimParts, dueBefore: number) {
  const { db } = ledger.store
  const taken = await db
    .updateTable('claim')
    .set({ last_checked_at: clock.now() })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('claim as due')
        .select('due.id')
        .where('due.state', '=', 'verified')
        .where('due.last_checked_at', '<', dueBefore)
        .where((due) =>
          due.or([
            due('due.method', '<>', 'oidc'),
            due('due.failing_since', 'is not', null),
            due('due.last_checked_at', '<', clock.now() - WORKFLOW_SILENT_MS),
          ]),
        )
        .orderBy('due.last_checked_at')
        .limit(BATCH),
    )
    .where('last_checked_at', '<', dueBefore)
    .returningAll()
    .execute()
  if (taken.length === 0) return []
  const ids = taken.map(({ seller_id }) => seller_id)
  const some = db.selectFrom('seller').select(['id', 'email']).where('id', 'in', ids)
  const sellers = await some.execute()
  const emails = new Map(sellers.map(({ id, email }) => [id, email]))
  return taken.map((claim) => ({ ...claim, email: emails.get(claim.seller_id) ?? '' }))
}
