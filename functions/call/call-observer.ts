import type { IncomingMessage } from 'node:http'
import type { LiveListing } from '../../src/domain/listing/live-listing.ts'
import type { SellerHead, SellerListener } from './seller-call.ts'

/** Observes paid calls; it delays nothing and changes nothing. */
export interface CallObserver {
  /** @returns null for a call that is not observed */
  observe(
    req: IncomingMessage,
    call: { listing: LiveListing; path: string; client: string },
  ): ObservedCall | null
}

export interface ObservedCall {
  /** Added to the answer: raw pairs. */
  readonly headers: readonly string[]
  /** Named by the answer's head; null before it came. */
  readonly transaction: string | null
  onRequestBody(chunk: Buffer): void
  onHead(head: SellerHead): void
  onData(chunk: Buffer): void
  onEnd(): void
  /** @param isSent whether the whole request is with the seller */
  onFail(error: Error, isSent: boolean): void
}

export const NO_OBSERVER: CallObserver = { observe: () => null }

/** @returns a listener that tells the observer first, where there is one */
export function observed(
  call: ObservedCall | null,
  inner: SellerListener,
  isSent: () => boolean,
): SellerListener {
  if (call === null) return inner
  return {
    onHead(head) {
      call.onHead(head)
      inner.onHead(head)
    },
    onData(chunk) {
      call.onData(chunk)
      return inner.onData(chunk)
    },
    onEnd() {
      inner.onEnd()
      call.onEnd()
    },
    onFail(error) {
      // Passing the failure on may end the call.
      const wasSent = isSent()
      inner.onFail(error)
      call.onFail(error, wasSent)
    },
  }
}
