import { STATUS_CODES } from 'node:http'
import type { RequestFault } from './find-request-fault.ts'

/** What stands on the wire when a request could not be parsed: no request object exists then. */
export interface Unreadable extends RequestFault {
  /** The part of the target that was received; may be empty. */
  target: string
}

/**
 * @param error of Node's `clientError`
 * @param limits what the server was set to, for the words
 */
export function toUnreadable(
  error: Error,
  limits: { headerBytes: number; headersSeconds: number },
): Unreadable {
  return { ...faultOf('code' in error ? error.code : undefined, limits), target: targetOf(error) }
}

function faultOf(
  code: unknown,
  { headerBytes, headersSeconds }: { headerBytes: number; headersSeconds: number },
): RequestFault {
  if (code === 'HPE_HEADER_OVERFLOW')
    return {
      code: 'malformed-request',
      detail: `The header fields of the request are too large: together they may have ${headerBytes} bytes.`,
    }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return {
      code: 'malformed-request',
      detail: `The request's header fields did not arrive within ${headersSeconds} s.`,
    }
  if (code === 'HPE_INVALID_CHUNK_SIZE')
    return {
      code: 'malformed-request',
      detail:
        'The body could not be read: Transfer-Encoding is chunked, so each chunk begins with its length in hexadecimal digits and a line end.',
    }
  return { code: 'malformed-request', detail: 'The request could not be read as HTTP/1.1.' }
}

/** Node keeps the bytes that broke the parser: they begin with the request line unless it came before them. */
function targetOf(error: Error): string {
  const packet = 'rawPacket' in error ? error.rawPacket : undefined
  if (!Buffer.isBuffer(packet)) return ''
  const line = packet.subarray(0, 1024).toString('latin1').split('\r\n', 1)[0] ?? ''
  return /^[A-Z]{1,16} (\S+)/.exec(line)?.[1] ?? ''
}

/** The answer as bytes: there is no response object that could write it. */
export async function toRawAnswer(response: Response): Promise<string> {
  const body = await response.text()
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`)
  const length = `content-length: ${Buffer.byteLength(body)}`
  return [
    `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ''}`,
    ...lines,
    length,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}
