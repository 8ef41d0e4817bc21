import { judgeTerms } from '../../src/domain/pins/expectation.ts'
import type { Expectation } from '../../src/domain/pins/offer.ts'
import { CallAborted, type MakeCallProblem, toChanged } from './call-problem.ts'
import type { SellerCall, SellerHead, SellerListener } from './seller-call.ts'

const MOST_TERMS_BYTES = 256 * 1024

/** A 402 whose caller expects something is read whole and judged before any of it is passed on. */
export function holdTerms(
  inner: SellerListener,
  { expectation, refuse }: { expectation: Expectation | null; refuse: MakeCallProblem },
  call: () => SellerCall | null,
  finish: (own: Response) => void,
): SellerListener {
  if (expectation === null) return inner
  let held: { head: SellerHead; chunks: Buffer[]; size: number } | null = null
  return {
    onHead(head) {
      if (head.status === 402) held = { head, chunks: [], size: 0 }
      else inner.onHead(head)
    },
    onData(chunk) {
      if (held === null) return inner.onData(chunk)
      held.chunks.push(chunk)
      held.size += chunk.length
      if (held.size > MOST_TERMS_BYTES) call()?.abort(new CallAborted('invalid'))
      return true
    },
    onEnd() {
      if (held !== null) {
        const body = Buffer.concat(held.chunks)
        const changed = judgeTerms(held.head.headers, body.toString('utf8'), expectation)
        if (changed.length > 0) return finish(toChanged(changed, refuse))
        inner.onHead(held.head)
        inner.onData(body)
      }
      inner.onEnd()
    },
    onFail: inner.onFail,
  }
}
