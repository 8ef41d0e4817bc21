import type { HttpMethod, Rail } from '../../wire/vocabulary.ts'
import { judgeStatus, toWrong } from './common-outcome.ts'
import { type Finding, toFinding } from './finding.ts'
import { readMppTerms } from './mpp-terms.ts'
import { isJsonType, jsonOf, markOf, mediaTypeOf, type ProbeAnswer } from './probe-answer.ts'
import { readX402Input } from './x402-input.ts'
import { readX402Terms } from './x402-terms.ts'

interface AskedOperation {
  method: HttpMethod
  /** As the listing declares it, placeholders unfilled. */
  url: string
  /** The method is our guess: that it is not allowed says nothing about the seller. */
  isGuess: boolean
}

/**
 * What an unpaid call of a paid operation says: `spoke` is a 402 whose terms can be decoded on a
 * rail the listing declares.
 *
 * @param now milliseconds since the epoch
 */
export function judgePayment(
  answer: ProbeAnswer,
  operation: AskedOperation,
  rails: readonly Rail[],
  now: number,
): Finding {
  const protocol = rails.includes('x402') ? 'x402' : 'mpp'
  if (answer.status !== 402) return judgeUnpaid(answer, operation, protocol, now)
  const readers = { x402: readX402Terms, mpp: readMppTerms }
  const read = rails.map((rail) => ({ rail, result: readers[rail](answer) }))
  const decoded = read.flatMap(({ rail, result }) => (result.found ? [{ rail, result }] : []))
  const [best] = decoded
  if (best === undefined) {
    const reasons = read.map(({ result }) => (result.found ? '' : result.saw))
    return toWrong(protocol, answer, `status 402, ${reasons.join('; ')}`)
  }
  const terms = decoded.flatMap(({ result }) => result.terms)
  const { method, url } = operation
  return toFinding({
    protocol: best.rail,
    outcome: 'spoke',
    ...markOf(answer),
    version: best.rail === 'x402' ? best.result.version : '1',
    saw: `402 with ${terms.length} ${terms.length === 1 ? 'offer' : 'offers'}: ${terms.map(toWords).join(', ')}`,
    sight: {
      from: best.rail,
      operation: { method, url, ...(best.rail === 'x402' && readX402Input(answer)) },
      terms,
      ...(decoded.some(({ result }) => result.isCut) && { truncated: true }),
    },
  })
}

function judgeUnpaid(
  answer: ProbeAnswer,
  { method, isGuess }: AskedOperation,
  protocol: Rail,
  now: number,
): Finding {
  const { status } = answer
  if (isGuess && (status === 404 || status === 405))
    return toFinding({
      protocol,
      outcome: status === 404 ? 'dead' : 'unprobeable',
      ...markOf(answer),
      saw: `status ${status} to ${method}, which is our guess: the listing names no method`,
    })
  const common = judgeStatus(protocol, answer, now)
  if (common !== null) return common
  const type = mediaTypeOf(answer)
  const words =
    status >= 200 && status <= 299
      ? `status ${status} without payment, ${type || 'no content type'}`
      : `status ${status} instead of 402, ${type || 'no content type'}`
  return toWrong(protocol, answer, words)
}

function toWords({
  scheme,
  network,
  usd,
}: {
  scheme: string
  network: string | null
  usd: number | null
}) {
  return `${usd === null ? scheme : `$${usd}`} on ${network ?? 'another network'}`
}

/**
 * What an operation that costs nothing and is safe to call answers: `spoke` is a 2xx with the
 * declared content type, JSON that parses where none is declared.
 *
 * @param expected media type of the operation's declared response, or null
 * @param now milliseconds since the epoch
 */
export function judgeHttp(
  answer: ProbeAnswer,
  { method, url }: Pick<AskedOperation, 'method' | 'url'>,
  expected: string | null,
  now: number,
): Finding {
  const common = judgeStatus('http', answer, now)
  if (common !== null) return common
  const { status } = answer
  const type = mediaTypeOf(answer)
  if (status < 200 || status > 299)
    return toWrong('http', answer, `status ${status}, ${type || 'no content type'}`)
  const wanted = expected?.split(';')[0]?.trim().toLowerCase() ?? null
  const isRight = wanted === null || isJsonType(wanted) ? isJsonType(type) : type === wanted
  if (!isRight)
    return toWrong(
      'http',
      answer,
      `status ${status} with ${type || 'no content type'}, expected ${wanted ?? 'application/json'}`,
    )
  // A long document is its content type's word; one we have whole must parse.
  if (isJsonType(type) && answer.cut !== 'size' && jsonOf(answer) === undefined)
    return toWrong('http', answer, `status ${status} with ${type} that is no JSON`)
  return toFinding({
    protocol: 'http',
    outcome: 'spoke',
    ...markOf(answer),
    saw: `status ${status}, ${type}`,
    sight: { from: 'http', operation: { method, url } },
  })
}
