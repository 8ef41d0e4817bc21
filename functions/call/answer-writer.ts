import type { ServerResponse } from 'node:http'
import { toCallerHeaders } from '../../src/domain/relay/caller-headers.ts'
import type { SellerHead } from './seller-call.ts'

/**
 * Writes a seller's answer to the caller: head as latin1 bytes, body as it comes, with
 * back-pressure. The caller's connection is torn, never ended, when the answer is incomplete:
 * under chunked framing a clean end would make half an answer look whole.
 */
export interface AnswerWriter {
  head(head: SellerHead): void
  /** @returns false when the caller cannot take more until the response drains. */
  data(chunk: Buffer): boolean
  end(): void
  tear(): void
}

/**
 * @param isPaid true when the request carried a payment
 * @param transport headers of every answer of ours, raw pairs
 */
export function createAnswerWriter(
  res: ServerResponse,
  isPaid: boolean,
  transport: readonly string[],
): AnswerWriter {
  return {
    head({ status, reason, headers }) {
      const relayed = toCallerHeaders(headers, { status, isPaid })
      res.writeHead(status, toReasonPhrase(reason), [...relayed, ...transport])
      // `flushHeaders` would write the head as UTF-8 and turn the byte E9 into C3 A9; an empty
      // latin1 write sends it as it is. Corked for a moment: head and first bytes of the body
      // usually come together and should leave together. The socket, not the response: a corked
      // response that is ended in the same tick sends its last chunk before its first.
      const { socket } = res
      socket?.cork()
      res.write('', 'latin1')
      process.nextTick(() => socket?.uncork())
    },
    data: (chunk) => res.write(chunk),
    end: () => void res.end(),
    tear: () => void res.destroy(),
  }
}

/** Node's parser lets bytes through here that its own writer refuses. */
function toReasonPhrase(reason: string): string {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(reason) ? reason : ''
}
