/** What can end a relayed call, as errors of our own; everything else comes from Node. */

/** The caller's body went past the limit while it streamed. */
export class BodyTooLargeError extends Error {
  override name = 'BodyTooLargeError'
}

/** The caller's body stopped arriving. */
export class BodyStalledError extends Error {
  override name = 'BodyStalledError'
}

/** The caller hung up, or its connection broke. */
export class CallerGoneError extends Error {
  override name = 'CallerGoneError'
}

/** The call had to end for another, whose client holds fewer. */
export class GaveWayError extends Error {
  override name = 'GaveWayError'
}

/** The seller took longer than its time for `waitingFor`. */
export class SellerTimeoutError extends Error {
  override name = 'SellerTimeoutError'
  waitingFor: 'request' | 'headers' | 'body'
  constructor(waitingFor: 'request' | 'headers' | 'body') {
    super(`the seller took too long (${waitingFor})`)
    this.waitingFor = waitingFor
  }
}

/** The seller's answer is no final HTTP answer that can be passed on. */
export class InvalidAnswerError extends Error {
  override name = 'InvalidAnswerError'
}
