import {
  PayoutBodySchema,
  PayoutCheckBodySchema,
  type PayoutChecked,
  type PayoutState,
} from '../../../src/domain/views/seller-views.ts'
import type { Parts } from '../../parts/parts.ts'
import { createJsonRpc } from '../../settlements/json-rpc.ts'
import type { PayoutProofTable } from '../../store/schema/store.ts'
import { createOwnerRoute } from '../claims/claim-routes.ts'
import { showObserved } from '../proofs/proof.ts'
import type { SellerRoute } from '../sessions/seller-route.ts'
import {
  hashPersonalText,
  isSignedByContract,
  isSignedBySolana,
  recoverSigner,
} from './payout-signature.ts'
import {
  findChallenge,
  findPayoutProof,
  openChallenge,
  recordPayoutProof,
  withdrawPayoutProof,
} from './payout-store.ts'

/** `POST /api/v1/sellers/payout {listing_id, payout}`: a text to sign with the payout's wallet. */
export function createPayoutStart(parts: Parts): SellerRoute {
  const { ledger, clock, config } = parts
  return createOwnerRoute(parts, 'payout', PayoutBodySchema, async ({ payout }, claim) => {
    const asked = { baseUrl: config.BASE_URL, payout }
    return { challenge: await openChallenge(ledger.store.db, claim, asked, clock.now()) }
  })
}

/** `POST /api/v1/sellers/payout/check {listing_id, payout, signature}`. A signature that does not match is a 200 that says why. */
export function createPayoutCheck(parts: Parts): SellerRoute {
  const { ledger, clock } = parts
  const { db } = ledger.store
  return createOwnerRoute(parts, 'payout', PayoutCheckBodySchema, async (body, claim) => {
    const { payout, signature } = body
    const challenge = await findChallenge(db, claim.id, payout, clock.now())
    const seen = challenge === null ? NO_CHALLENGE : await look(parts, challenge, payout, signature)
    const contractSignature = seen.isContract ? signature : null
    const proven =
      challenge !== null && seen.verified
        ? await recordPayoutProof(db, claim, { payout, challenge, contractSignature }, clock.now())
        : null
    const proof = proven ?? (await findPayoutProof(db, claim.id, payout))
    const { isContract: _, ...sight } = seen.verified && proven === null ? NO_CHALLENGE : seen
    return { ...sight, payout: toPayoutState(payout, proof) } satisfies PayoutChecked
  })
}

/** `DELETE /api/v1/sellers/payout {listing_id, payout}`: ends the proof; the next build shows it. */
export function createPayoutWithdrawal(parts: Parts): SellerRoute {
  return createOwnerRoute(parts, 'payout', PayoutBodySchema, async ({ payout }, claim) => {
    await withdrawPayoutProof(parts.ledger.store.db, claim.id, payout)
    return toPayoutState(payout, undefined)
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
