import type { ServerResponse } from 'node:http'
import { toCallerHeaders } from '../../src/domain/relay/caller-headers.ts'
import type { SellerHead } from './seller-call.ts'

/**
 * Writes a seller's answer to the caller: head as latin1 bytes, body as it comes, with
 * back-pressure. The caller's connection is reset, never ended, when the answer is incomplete:
 * under chunked framing a clean end would make half an answer look whole.
 *
 * @param isPaid true when the request carried a payment
 * @param transport headers of every answer of ours, raw pairs
 * @param onDrain called when a caller that could not take more can again
 */
export function createAnswerWriter(
  res: ServerResponse,
  isPaid: boolean,
  transport: readonly string[],
  onDrain: () => void,
) {
  let isHeadSent = false
  // `flushHeaders` would write the head as UTF-8 and turn the byte E9 into C3 A9; an empty latin1
  // write sends it as it is.
  const sendHead = () => {
    if (isHeadSent || res.destroyed) return
    isHeadSent = true
    res.write('', 'latin1')
  }
  const toldWhenDrained = (isTaken: boolean) => {
    if (!isTaken) res.once('drain', onDrain)
    return isTaken
  }
  return {
    head({ status, reason, headers }: SellerHead): void {
      const relayed = toCallerHeaders(headers, { status, isPaid })
      res.writeHead(status, toReasonPhrase(reason), [...relayed, ...transport])
      // Head and first bytes of the body usually come together and should leave together: what has
      // already arrived is passed on within this tick.
      process.nextTick(sendHead)
    },
    /**
     * The writer owns the chunk from here on: once written, its memory is freed.
     * @returns false when the caller cannot take more until the response drains
     */
    data(chunk: Buffer): boolean {
      // As text, a short body joins its head in one string; a buffer would be a separate write.
      const isShort = !isHeadSent && chunk.length <= SHORT_BODY
      isHeadSent = true
      if (isShort) {
        const isTaken = res.write(chunk.toString('latin1'), 'latin1')
        // Node would hold it to the end of the tick and send this text and an empty chunk.
        res.socket?.uncork()
        return toldWhenDrained(isTaken)
      }
      const isTaken = isGivenBack(res, chunk)
        ? res.write(chunk, (error) => {
            if (error == null) giveBack(chunk)
          })
        : res.write(chunk)
      return toldWhenDrained(isTaken)
    },
    end(): void {
      isHeadSent = true
      res.end()
    },
    tear: () => void res.destroy(),
  }
}

/** Most bytes of a body that are copied to leave with their head. */
const SHORT_BODY = 4 * 1024

/** Below this size a chunk is cheaper to keep than to return (bytes). */
const LARGE_CHUNK = 16 * 1024

/** A response without a connection may keep the chunk; a slice is not ours to free. */
function isGivenBack({ socket }: ServerResponse, chunk: Buffer): boolean {
  return (
    chunk.length >= LARGE_CHUNK &&
    chunk.length === chunk.buffer.byteLength &&
    socket !== null &&
    'connecting' in socket
  )
}

/**
 * Frees a chunk that was passed to the system. The collector would only run at 60 MiB of them,
 * which was nearly all the memory that a hundred streams took.
 */
function giveBack({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Node's parser lets bytes through here that its own writer refuses. */
function toReasonPhrase(reason: string): string {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(reason) ? reason : ''
}
