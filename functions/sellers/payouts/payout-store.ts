import type { Kysely } from 'kysely'
import { normalizePayout } from '../../../src/domain/listing/caip-account.ts'
import type { KnownPayout } from '../../../src/domain/views/seller-views.ts'
import type { Release } from '../../release/release.ts'
import type { ClaimTable, PayoutProofTable, Tables } from '../../store/schema/store.ts'
import { createSecret } from '../sessions/login-token.ts'

const CHALLENGE_MINUTES = 15

/**
 * The text that proves a payout once its wallet has signed it. A wallet shows it first: whose it
 * is, what for, and that it is not a payment.
 *
 * @param now milliseconds since the epoch; `payout` is CAIP-10
 */
export async function openChallenge(
  db: Kysely<Tables>,
  { id, listing_id }: ClaimTable,
  { baseUrl, payout }: { baseUrl: string; payout: string },
  now: number,
): Promise<string> {
  const expires_at = now + CHALLENGE_MINUTES * 60_000
  const challenge = [
    `${baseUrl} asks you to prove a payout address.`,
    '',
    'By signing you say that payments to this address are for this listing.',
    'Signing costs nothing, moves nothing and permits nothing.',
    '',
    `Listing: ${listing_id}`,
    `Payout: ${payout}`,
    `Nonce: ${createSecret()}`,
    `Expires: ${new Date(expires_at).toISOString()}`,
  ].join('\n')
  const row = { challenge, expires_at }
  await db
    .insertInto('payout_challenge')
    .values({ claim_id: id, payout: normalizePayout(payout), ...row })
    .onConflict((conflict) => conflict.columns(['claim_id', 'payout']).doUpdateSet(row))
    .execute()
  return challenge
}

export async function findChallenge(
  db: Kysely<Tables>,
  claimId: string,
  payout: string,
  now: number,
): Promise<string | null> {
  const row = await db
    .selectFrom('payout_challenge')
    .select('challenge')
    .where((eb) => eb.and({ claim_id: claimId, payout: normalizePayout(payout) }))
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return row?.challenge ?? null
}

/**
 * Records the proof. One DELETE uses the challenge up, so that a signature works once.
 *
 * @returns null when the challenge was used meanwhile
 */
export async function recordPayoutProof(
  db: Kysely<Tables>,
  claim: ClaimTable,
  signed: { payout: string; challenge: string; contractSignature: string | null },
  now: number,
): Promise<PayoutProofTable | null> {
  const { payout, challenge, contractSignature } = signed
  return db.transaction().execute(async (trx) => {
    const used = await trx
      .deleteFrom('payout_challenge')
      .where((eb) => eb.and({ claim_id: claim.id, challenge }))
      .returning('claim_id')
      .execute()
    if (used.length === 0) return null
    const proof = {
      claim_id: claim.id,
      payout: normalizePayout(payout),
      proven_at: now,
      ...(contractSignature === null
        ? { checked_at: null, challenge: null }
        : { checked_at: now, challenge }),
      signature: contractSignature,
    }
    await trx
      .insertInto('payout_proof')
      .values(proof)
      .onConflict((conflict) => conflict.columns(['claim_id', 'payout']).doUpdateSet(proof))
      .execute()
    return proof
  })
}

/** Ends only a proof, and a challenge that waits for its signature. */
export async function withdrawPayoutProof(db: Kysely<Tables>, claimId: string, payout: string) {
  await db.transaction().execute(async (trx) => {
    for (const table of ['payout_challenge', 'payout_proof'] as const)
      await trx
        .deleteFrom(table)
        .where((eb) => eb.and({ claim_id: claimId, payout: normalizePayout(payout) }))
        .execute()
  })
}

export function findPayoutProof(db: Kysely<Tables>, claimId: string, payout: string) {
  return db
    .selectFrom('payout_proof')
    .selectAll()
    .where((eb) => eb.and({ claim_id: claimId, payout: normalizePayout(payout) }))
    .executeTakeFirst()
}

/** Every known payout of the listings of these claims: counted, contested or proved. */
export async function listPayouts(
  db: Kysely<Tables>,
  release: Pick<Release, 'listings'>,
  owned: readonly Pick<ClaimTable, 'id' | 'listing_id'>[],
): Promise<KnownPayout[]> {
  if (owned.length === 0) return []
  const ids = owned.map(({ id }) => id)
  const proofs = await db
    .selectFrom('payout_proof')
    .selectAll()
    .where('claim_id', 'in', ids)
    .orderBy('payout')
    .execute()
  return owned.flatMap(({ id, listing_id }) => {
    const listing = release.listings.get(listing_id)
    const proven = proofs.filter(({ claim_id }) => claim_id === id)
    const provenAt = new Map(proven.map(({ payout, proven_at }) => [payout, proven_at]))
    const known = [...(listing?.payout ?? []), ...(listing?.payout_contested ?? [])]
    const isKnown = new Set(known.map(normalizePayout))
    const others = proven.map(({ payout }) => payout).filter((payout) => !isKnown.has(payout))
    return [...known, ...others].map((payout) => {
      const at = provenAt.get(normalizePayout(payout))
      return {
        listing_id,
        payout,
        published: isKnown.has(normalizePayout(payout)),
        counts: listing?.payout.includes(payout) === true,
        ...(at !== undefined && { proven_at: new Date(at).toISOString() }),
      }
    })
  })
}
