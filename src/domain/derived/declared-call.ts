import * as v from 'valibot'
import { ParamSchema, PayloadSchema } from '../listing/operation.ts'
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
  params: v.exactOptional(v.array(ParamSchema)),
  body: v.exactOptional(PayloadSchema),
  response: PayloadSchema,
})
export type DeclaredRow = v.InferOutput<typeof DeclaredRowSchema>

/** The operations of a listing whose answers can be judged. */
export function findDeclaredCalls(listing: DerivedListing) {
  const { facts, surface, payees, buy } = listing
  if (buy.buy !== 'relay_x402') return []
  return surface.operations.flatMap(({ method, url, params, body, response }) => {
    if (response === undefined) return []
    const { ref: _, ...declared } = response
    const whole = { ...facts, ...surface, payees }
    const digest = toDigest(toFactsOfCall(whole, toOperationKey({ method, url })))
    return [{ method, url, digest, params, body, response: declared }]
  })
}

export function toDeclaredRows(listing: DerivedListing): DeclaredRow[] {
  return findDeclaredCalls(listing).map(({ params, body, ...call }) => ({
    listing_id: listing.id,
    ...call,
    ...(params !== undefined && { params }),
    ...(body !== undefined && { body }),
  }))
}
