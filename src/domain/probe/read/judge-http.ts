import { judgeStatus, toWrong } from './common-outcome.ts'
import { type Finding, toFinding } from './finding.ts'
import type { AskedOperation } from './judge-payment.ts'
import { isJsonType, jsonOf, mediaTypeOf, type ProbeAnswer } from './probe-answer.ts'

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
    status,
    ms: Math.round(answer.ms),
    saw: `status ${status}, ${type}`,
    sight: { from: 'http', operation: { method, url } },
  })
}
