import { toCountText } from '../../operation/price-text.ts'
import type { HttpMethod, Rail } from '../../wire/vocabulary.ts'
import { type Finding, judgeStatus, toFinding, toWrong } from './finding.ts'
import { readMppTerms } from './mpp-terms.ts'
import { isJsonType, jsonOf, mediaTypeOf, type ProbeAnswer, toHeadText } from './probe-answer.ts'
import { readX402Shapes } from './x402-input.ts'
import { readX402Terms } from './x402-terms.ts'

interface AskedOperation {
  method: HttpMethod
  url: string
  /** The method is our guess: a refusal of it says nothing about the seller. */
  isGuess: boolean
}

/**
 * `spoke` is a 402 whose terms can be decoded on a rail the listing declares.
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
  const offers = terms.map(({ scheme, network, usd }) => {
    return `${usd === null ? scheme : `$${usd}`} on ${network ?? 'another network'}`
  })
  const { method, url } = operation
  const finding: Finding = {
    protocol: best.rail,
    outcome: 'spoke',
    version: best.rail === 'x402' ? best.result.version : '1',
    saw: `402 with ${toCountText(terms.length, 'offer')}: ${offers.join(', ')}`,
    sight: {
      from: best.rail,
      operation: { method, url, ...(best.rail === 'x402' && readX402Shapes(answer, url)) },
      terms,
      ...(decoded.some(({ result }) => result.isCut) && { truncated: true }),
    },
  }
  return toFinding(finding, answer)
}

function judgeUnpaid(
  answer: ProbeAnswer,
  { method, isGuess }: AskedOperation,
  protocol: Rail,
  now: number,
): Finding {
  const { status } = answer
  const outcome = status === 404 ? 'dead' : 'unprobeable'
  const saw = `status ${status} to ${method}, which is our guess: the listing names no method`
  if (isGuess && (status === 404 || status === 405))
    return toFinding({ protocol, outcome, saw }, answer)
  const common = judgeStatus(protocol, answer, now)
  if (common !== null) return common
  const type = mediaTypeOf(answer) || 'no content type'
  const instead = status >= 200 && status <= 299 ? 'without payment' : 'instead of 402'
  return toWrong(protocol, answer, `status ${status} ${instead}, ${type}`)
}

/**
 * `spoke` is a 2xx with the declared content type, JSON that parses where none is declared.
 * @param expected that media type, or null
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
  if (status < 200 || status > 299) return toWrong('http', answer, toHeadText(answer))
  const wanted = expected?.split(';')[0]?.trim().toLowerCase() ?? null
  const isRight = wanted === null || isJsonType(wanted) ? isJsonType(type) : type === wanted
  const said = `status ${status} with ${type || 'no content type'}`
  if (!isRight) return toWrong('http', answer, `${said}, expected ${wanted ?? 'application/json'}`)
  // A truncated document is judged by its content type; a complete one must parse.
  if (isJsonType(type) && answer.cut !== 'size' && jsonOf(answer) === undefined)
    return toWrong('http', answer, `${said} that is not JSON`)
  const sight = { from: 'http', operation: { method, url } } as const
  return toFinding({ protocol: 'http', outcome: 'spoke', saw: toHeadText(answer), sight }, answer)
}
