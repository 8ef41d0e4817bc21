import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** How long a caller may go on sending an unwanted body before the connection is closed. */
const LINGER_MS = 1000

/**
 * Writes a small, complete Response to a Node response; used without an h3 event. Where the caller
 * is still sending, the whole answer goes out first and the rest is read for a moment: closing with
 * unread bytes would reset the connection, and the caller would see that instead of the answer.
 */
export async function sendResponse(
  req: IncomingMessage,
  res: ServerResponse,
  response: Response,
): Promise<void> {
  if (res.headersSent || res.destroyed) return
  const body = Buffer.from(await response.arrayBuffer())
  res.statusCode = response.status
  for (const [name, value] of response.headers) res.setHeader(name, value)
  if (response.status !== 204) res.setHeader('Content-Length', body.length)
  if (req.complete) {
    res.end(body)
    return
  }
  res.setHeader('Connection', 'close')
  res.write(body)
  req.on('error', () => {})
  req.resume()
  await Promise.race([
    new Promise((resolve) => req.once('end', resolve).once('close', resolve)),
    sleep(LINGER_MS, undefined, { ref: false }),
  ])
  res.end()
}
