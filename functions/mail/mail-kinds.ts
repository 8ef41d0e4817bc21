import * as v from 'valibot'
import { CLAIM_METHODS } from '../../src/domain/wire/vocabulary.ts'

const claimPayload = v.object({
  listing_id: v.string(),
  host: v.string(),
  method: v.picklist(CLAIM_METHODS),
})

/**
 * Every mail the service sends, with what its text is made from. No payload holds a secret: a
 * sign-in link is made at the moment of sending.
 */
export const MailTaskSchema = v.variant('kind', [
  v.object({ kind: v.literal('sign_in') }),
  v.object({ kind: v.literal('claim_verified'), ...claimPayload.entries }),
  v.object({ kind: v.literal('claim_superseded'), ...claimPayload.entries }),
  v.object({ kind: v.literal('claim_failing'), ...claimPayload.entries, reason: v.string() }),
  v.object({ kind: v.literal('claim_lapsed'), ...claimPayload.entries, reason: v.string() }),
  v.object({ kind: v.literal('payout_ended'), ...claimPayload.entries, reason: v.string() }),
])

export type MailTask = v.InferOutput<typeof MailTaskSchema>
export type ClaimMailTask = Exclude<MailTask, { kind: 'sign_in' }>
