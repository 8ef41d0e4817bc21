import type { IncomingMessage } from 'node:http'
import type { LiveListing } from '../../src/domain/listing/live-listing.ts'
import type { SellerListener } from './seller-call.ts'

/** Observes paid calls; it delays nothing and changes nothing. */
export interface Witness {
  /** @returns null for a call that is not observed */
  watch(
    req: IncomingMessage,
    call: { listing: LiveListing; path: string; client: string },
  ): Watch | null
}

export interface Watch {
  /** Of the answer: raw pairs. */
  headers: readonly string[]
  onRequestBody(chunk: Buffer): void
  /** @param isSent whether the whole request is with the seller */
  listen(inner: SellerListener, isSent: () => boolean): SellerListener
}

export const NO_WITNESS: Witness = { watch: () => null }
