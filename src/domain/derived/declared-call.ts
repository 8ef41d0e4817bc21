import * as v from 'valibot'
import { PayloadSchema } from '../listing/listing-facts.ts'
import { toOperationKey } from '../operation/is-at-address.ts'
import { toDigest, toFactsOfCall } from '../pins/pins.ts'
import { HTTP_METHODS } from '../wire/vocabulary.ts'
import type { DerivedListing } from './derived-listing.ts'

/** An operation callable through the relay that declares good answers, for judging receipts. */
export const DeclaredRowSchema = v.strictObject({
  listing_id: v.string(),
  /** Digest of what a caller of this operation relies on: the same as in a lock. */
  digest: v.string(),
  method: v.picklist(HTTP_METHODS),
  url: v.string(),
  response: PayloadSchema,
})
export type DeclaredRow = v.InferOutput<typeof DeclaredRowSchema>

/** The operations of a listing whose answers can be judged. */
export function toDeclaredRows({ id, facts, surface, payees, buy }: DerivedListing): DeclaredRow[] {
  if (buy.buy !== 'relay_x402') return []
  return surface.operations.flatMap(({ method, url, response }) => {
    if (response === undefined) return []
    const { ref: _, ...declared } = response
    const whole = { ...facts, ...surface, payees }
    const digest = toDigest(toFactsOfCall(whole, toOperationKey({ method, url })))
    return [{ listing_id: id, digest, method, url, response: declared }]
  })
}
