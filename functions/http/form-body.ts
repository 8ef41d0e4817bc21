import type { IncomingMessage } from 'node:http'

/** Bytes of a sent form. */
const MAX_FORM_BYTES = 16 * 1024

/** Null for another type, past the limit, or where it breaks off. */
export function readForm(req: IncomingMessage): Promise<string | null> {
  const type = req.headers['content-type'] ?? ''
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) return Promise.resolve(null)
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      // What is too long is read on and dropped: the answer goes over the same connection.
      if (size <= MAX_FORM_BYTES) chunks.push(chunk)
    })
    req.once('end', () =>
      resolve(size > MAX_FORM_BYTES ? null : Buffer.concat(chunks).toString('utf8')),
    )
    req.once('close', () => resolve(null))
    req.once('error', () => resolve(null))
  })
}

/** What says where a browser's form came from. */
export function toSiteHeaders(req: IncomingMessage): Headers {
  const headers = new Headers()
  for (const name of ['origin', 'sec-fetch-site']) {
    const value = req.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  return headers
}
