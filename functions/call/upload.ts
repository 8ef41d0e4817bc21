import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { MALFORMED_BODY } from '../server/connections.ts'
import { CallAborted } from './call-problem.ts'
import type { RelayLimits } from './relay-limits.ts'

/**
 * The caller's body as a stream of its own. It is destroyed when the seller answers before it was
 * all sent (a 402 usually does); destroying the caller's request would cut the connection that the
 * answer needs. What still arrives then is read and discarded.
 *
 * @param onProgress called with every chunk, for the idle clock and the observer.
 */
export function createUpload(
  req: IncomingMessage,
  { requestBodyBytes: maxBytes, upload: pace }: Pick<RelayLimits, 'requestBodyBytes' | 'upload'>,
  onProgress: (chunk: Buffer) => void,
): Readable {
  let received = 0
  let isOver = false
  req.pause()
  const upload = new Readable({
    read: () => void req.resume(),
    destroy: (error, callback) => {
      isOver = true
      req.resume()
      callback(error)
    },
  })
  req.on('data', (chunk: Buffer) => {
    received += chunk.length
    if (isOver) {
      if (received > 2 * maxBytes) req.destroy()
      return
    }
    if (received > maxBytes) upload.destroy(new CallAborted('too_large'))
    else if (!upload.push(chunk)) req.pause()
    onProgress(chunk)
  })
  const stopWatching = watchPace(
    req,
    pace,
    () => received,
    () => {
      if (!isOver) upload.destroy(new CallAborted('stalled'))
    },
  )
  req.once('end', () => {
    stopWatching()
    if (!isOver) upload.push(null)
  })
  req.once(MALFORMED_BODY, () => upload.destroy(new CallAborted('caller_gone')))
  req.once('close', () => {
    stopWatching()
    if (!req.complete) upload.destroy(new CallAborted('caller_gone'))
  })
  return upload
}

/**
 * A byte now and then satisfies every idle clock and keeps the call's slot. Time in which the
 * seller takes no more is not the caller's.
 *
 * @returns a function that ends the watch
 */
function watchPace(
  req: IncomingMessage,
  { graceMs, minBytesPerSecond, maxMs }: RelayLimits['upload'],
  received: () => number,
  onTooSlow: () => void,
): () => void {
  const everyMs = Math.min(1000, graceMs / 4)
  let allMs = 0
  let waitedMs = 0
  const timer = setInterval(() => {
    allMs += everyMs
    if (!req.isPaused()) waitedMs += everyMs
    const allowedMs = graceMs + (received() / minBytesPerSecond) * 1000
    if (waitedMs > allowedMs || allMs > maxMs) onTooSlow()
  }, everyMs)
  return () => clearInterval(timer)
}

/** True when a body follows the head (RFC 9112 §6.3). */
export function hasBody(req: IncomingMessage): boolean {
  return 'transfer-encoding' in req.headers || Number(req.headers['content-length'] ?? 0) > 0
}
