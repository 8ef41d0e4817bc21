import type * as v from 'valibot'
import {
  PayoutBodySchema,
  PayoutCheckBodySchema,
  type PayoutChecked,
  type PayoutState,
} from '../../../src/domain/views/seller-views.ts'
import { parseBody } from '../../http/parse-body.ts'
import type { Parts } from '../../parts/parts.ts'
import { createJsonRpc } from '../../settlements/json-rpc.ts'
import type { ClaimTable, PayoutProofTable } from '../../store/schema/tables.ts'
import { showObserved } from '../proofs/proof.ts'
import {
  createSignedInRoute,
  jsonAnswer,
  limitClient,
  type SellerRoute,
} from '../sessions/seller-route.ts'
import { isSignedByContract } from './contract-signature.ts'
import { hashPersonalText, isSignedBySolana, recoverSigner } from './payout-signature.ts'
import {
  findChallenge,
  findOwnedClaim,
  findPayoutProof,
  openChallenge,
  recordPayoutProof,
  withdrawPayoutProof,
} from './payout-store.ts'

/** `POST /api/v1/sellers/payout {listing_id, payout}`: a text to sign with the payout's wallet. */
export function createPayoutStart(parts: Parts): SellerRoute {
  const { ledger, clock, config } = parts
  return createOwnerRoute(parts, PayoutBodySchema, async ({ payout }, claim) => {
    const asked = { baseUrl: config.BASE_URL, payout }
    return { challenge: await openChallenge(ledger.store.db, claim, asked, clock.now()) }
  })
}

/** `POST /api/v1/sellers/payout/check {listing_id, payout, signature}`. What fails is a 200 that says why. */
export function createPayoutCheck(parts: Parts): SellerRoute {
  const { ledger, clock } = parts
  const { db } = ledger.store
  return createOwnerRoute(parts, PayoutCheckBodySchema, async ({ payout, signature }, claim) => {
    const challenge = await findChallenge(db, claim.id, payout, clock.now())
    const seen = challenge === null ? NO_CHALLENGE : await look(parts, challenge, payout, signature)
    const proven =
      challenge !== null && seen.verified
        ? await recordPayoutProof(
            db,
            claim,
            { payout, challenge, contractSignature: seen.isContract ? signature : null },
            clock.now(),
          )
        : null
    const proof = proven ?? (await findPayoutProof(db, claim.id, payout))
    const { isContract: _, ...sight } = seen.verified && proven === null ? NO_CHALLENGE : seen
    return { ...sight, payout: toPayoutState(payout, proof) } satisfies PayoutChecked
  })
}

/** `DELETE /api/v1/sellers/payout {listing_id, payout}`: the proof ends alone; the next build knows. */
export function createPayoutWithdrawal(parts: Parts): SellerRoute {
  return createOwnerRoute(parts, PayoutBodySchema, async ({ payout }, claim) => {
    await withdrawPayoutProof(parts.ledger.store.db, claim.id, payout)
    return toPayoutState(payout, undefined)
  })
}

/** What the routes of payouts share: a limit, a body, and a claim of the asker that covers the listing. */
function createOwnerRoute<Schema extends typeof PayoutBodySchema | typeof PayoutCheckBodySchema>(
  parts: Parts,
  schema: Schema,
  answer: (body: v.InferOutput<Schema>, claim: ClaimTable) => Promise<object>,
): SellerRoute {
  const { problem, ledger, release } = parts
  return createSignedInRoute(parts, async (event, { sellerId }) => {
    const refused = await limitClient(parts, 'payout', event)
    if (refused !== null) return refused
    const body = await parseBody(event.req, schema, problem)
    if ('refusal' in body) return body.refusal
    const { listing_id: listingId } = body.output
    const claim = await findOwnedClaim(ledger.store.db, release(), { sellerId, listingId })
    if (claim === null) return refuseForeign(parts)
    return jsonAnswer(await answer(body.output, claim))
  })
}

interface Sight extends Pick<PayoutChecked, 'verified' | 'expected' | 'observed'> {
  isContract?: boolean
}

const NO_CHALLENGE: Sight = {
  verified: false,
  expected: 'a challenge for this payout, asked for within the last 15 minutes and not used yet',
  observed: null,
}

async function look(
  { config }: Pick<Parts, 'config'>,
  challenge: string,
  payout: string,
  signature: string,
): Promise<Sight> {
  const [family = '', chain = '', address = ''] = payout.split(':')
  const expected = `a signature of the challenge by ${address}`
  if (family === 'solana') {
    const verified = isSignedBySolana(challenge, address, signature)
    return { verified, expected, observed: verified ? address : showObserved(signature) }
  }
  const signer = recoverSigner(challenge, signature)
  if (signer === address.toLowerCase()) return { verified: true, expected, observed: signer }
  const url = config.RPC_URLS[`${family}:${chain}`]
  if (url !== undefined && /^0x(?:[0-9a-fA-F]{2})+$/.test(signature)) {
    const hash = hashPersonalText(challenge)
    const verdict = await isSignedByContract(createJsonRpc(url), address, hash, signature)
    if (verdict === 'yes')
      return { verified: true, expected, observed: `${address}, a contract`, isContract: true }
    if (verdict === null)
      return { verified: false, expected, observed: 'the chain’s node gave no answer; try again' }
  }
  const observed = signer === null ? showObserved(signature) : `a signature by ${signer}`
  return { verified: false, expected, observed }
}

function toPayoutState(payout: string, proof: PayoutProofTable | undefined): PayoutState {
  return proof === undefined
    ? { payout, state: 'unproven' }
    : { payout, state: 'proven', proven_at: new Date(proof.proven_at).toISOString() }
}

/** A listing of somebody else answers like one that does not exist. */
function refuseForeign({ problem }: Pick<Parts, 'problem'>): Response {
  return problem('listing-not-found', {
    detail:
      'You own no listing with this id. Claim it first; a verified claim of its host is needed.',
  })
}
