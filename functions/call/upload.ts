import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { BodyTooLargeError, CallerGoneError } from './call-errors.ts'

/**
 * The caller's body as a stream of its own. undici destroys a body when the seller answers before
 * it was all sent (a 402 usually does); destroying the caller's request would cut the connection
 * that the answer has to go back on. What still arrives then is read and thrown away.
 *
 * @param onProgress told of every chunk, for the idle clock.
 */
export function createUpload(
  req: IncomingMessage,
  maxBytes: number,
  onProgress: () => void,
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
    if (received > maxBytes)
      upload.destroy(new BodyTooLargeError('the body is larger than the relay takes'))
    else if (!upload.push(chunk)) req.pause()
    onProgress()
  })
  req.once('end', () => {
    if (!isOver) upload.push(null)
  })
  req.once('close', () => {
    if (!req.complete) upload.destroy(new CallerGoneError('the caller hung up'))
  })
  return upload
}

/** True when a body follows the head (RFC 9112 §6.3). */
export function hasBody(req: IncomingMessage): boolean {
  return 'transfer-encoding' in req.headers || Number(req.headers['content-length'] ?? 0) > 0
}
