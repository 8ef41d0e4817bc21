import { once } from 'node:events'
import { type IncomingHttpHeaders, type RequestOptions, request } from 'node:http'

/** An answer as it stood on the wire. */
export interface RawAnswer {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
}

/** Not `fetch`: it would repair the path, follow redirects, unpack the body and hide how that ended. */
export async function askRaw(base: string, options: RequestOptions = {}): Promise<RawAnswer> {
  const [response] = await once(request(base, { agent: false, ...options }).end(), 'response')
  const chunks: Buffer[] = await response.toArray()
  return { status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) }
}
