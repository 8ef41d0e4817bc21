import * as v from 'valibot'
import { PayoutSchema } from '../listing/payout.ts'

/** Wire shapes of the payout proof. */
const MAX_SIGNATURE_LENGTH = 8192

const target = {
  listing_id: v.pipe(v.string(), v.description('Id of a listing whose verified claim is yours.')),
  payout: v.pipe(PayoutSchema, v.description('The payout address, CAIP-10.')),
}

export const PayoutBodySchema = v.strictObject(target)
export const PayoutChallengeSchema = v.object({
  /** Sign exactly this text with the payout's wallet; it works once, for 15 minutes. */
  challenge: v.string(),
})

export const PayoutCheckBodySchema = v.strictObject({
  ...target,
  signature: v.pipe(
    v.string(),
    v.minLength(1, 'expected a signature, got nothing'),
    v.maxLength(MAX_SIGNATURE_LENGTH, `expected at most ${MAX_SIGNATURE_LENGTH} characters`),
    v.description(
      'What the wallet gave: 0x and hex for EVM (EIP-191, EIP-1271), base58 for Solana (ed25519), as text.',
    ),
  ),
})
export const PayoutCheckedSchema = v.object({
  verified: v.boolean(),
  expected: v.string(),
  /** What was seen; null when there was nothing to hold it against. */
  observed: v.nullable(v.string()),
  payout: v.variant('state', [
    v.object({ payout: v.string(), state: v.literal('proven'), proven_at: v.string() }),
    v.object({ payout: v.string(), state: v.literal('unproven') }),
  ]),
})
export type PayoutChecked = v.InferOutput<typeof PayoutCheckedSchema>
