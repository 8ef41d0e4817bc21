import { MAX_TERMS_BYTES } from '../../src/domain/doors/paid-call.ts'
import { judgeTerms } from '../../src/domain/pins/expectation.ts'
import type { Expectation } from '../../src/domain/pins/offer.ts'
import { valuesOf } from '../../src/domain/relay/relayed-headers.ts'
import { decodeBody } from '../net/http-client.ts'
import { CallAborted, type MakeCallProblem, toCallProblem, toChanged } from './call-problem.ts'
import type { SellerCall, SellerHead, SellerListener } from './seller-call.ts'

/**
 * A 402 whose caller expects something is read whole and judged before any of it is passed on, by
 * what it unpacks to: that is what the caller would read.
 */
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
      if (held.size > MAX_TERMS_BYTES) call()?.abort(new CallAborted('long_terms'))
      return true
    },
    onEnd() {
      if (held === null) return inner.onEnd()
      const { head, chunks } = held
      const bytes = Buffer.concat(chunks)
      const coding = valuesOf(head.headers, 'content-encoding').join(',').toLowerCase()
      void decodeBody(bytes, coding, null, MAX_TERMS_BYTES).then(({ body, cut }) => {
        if (cut === 'size') return finish(refuse(toCallProblem(new CallAborted('long_terms'))))
        const changed = judgeTerms(head.headers, body, expectation)
        if (changed.length > 0) return finish(toChanged(changed, refuse))
        inner.onHead(head)
        inner.onData(bytes)
        inner.onEnd()
      })
    },
    onFail: inner.onFail,
  }
}
