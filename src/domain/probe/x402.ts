import { readX402Offer, type X402Offer } from '../discovery/x402-offers.ts'
import { readX402Input, readX402Output } from '../discovery/x402-shapes.ts'
import type { Operation } from '../listing/operation.ts'
import { toCountText } from '../operation/price-text.ts'
import { parseBase64Json } from '../relay/base64-json.ts'
import { isJsonObject, memberOf } from '../wire/parse-json.ts'
import type { HttpMethod, Rail } from '../wire/vocabulary.ts'
import {
  type Finding,
  headerOf,
  isJsonType,
  jsonOf,
  judgeStatus,
  MAX_TERMS,
  mediaTypeOf,
  type PaymentTerm,
  type ProbeAnswer,
  type ReadTerms,
  toFinding,
  toHeadText,
  toWrong,
} from './finding.ts'
import { readMppTerms } from './mpp.ts'

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

/** Version 2 in `PAYMENT-REQUIRED`, 1 in the body. A client of version 2 does not read the body. */
export function readX402Terms(answer: ProbeAnswer): ReadTerms {
  const header = headerOf(answer, 'payment-required')
  if (header !== undefined) {
    const value = parseBase64Json(header)
    if (!isJsonObject(value)) return missing('a PAYMENT-REQUIRED header that is not base64 JSON')
    return readOffers(value, '2', 'the PAYMENT-REQUIRED header')
  }
  const body = jsonOf(answer)
  if (!isJsonObject(body)) return missing('a 402 without PAYMENT-REQUIRED header or JSON body')
  if (body.x402Version === 2)
    return missing('terms of x402 version 2 in the body only; clients read the header')
  if (body.x402Version !== 1) return missing('a 402 whose body has no x402Version 1')
  return readOffers(body, '1', 'the body')
}

function readOffers(value: Record<string, unknown>, version: string, where: string): ReadTerms {
  if (value.x402Version !== Number(version))
    return missing(`${where} says x402Version ${JSON.stringify(value.x402Version)?.slice(0, 20)}`)
  const { accepts } = value
  if (!Array.isArray(accepts) || accepts.length === 0) return missing(`no accepts in ${where}`)
  const terms = toX402Terms(accepts.slice(0, MAX_TERMS))
  if (terms.length === 0)
    return missing(
      `no offer in ${where} has scheme, network, asset, payTo and a whole-number amount`,
    )
  return { found: true, version, terms, isCut: accepts.length > MAX_TERMS }
}

/** The offers that a client could sign, however little of them we can price. */
export function toX402Terms(accepts: readonly unknown[]): PaymentTerm[] {
  return accepts.flatMap((value): PaymentTerm[] => {
    const offer = readX402Offer(value, { allowTestCoins: true })
    if (offer === null || !isWhole(offer, value)) return []
    const { scheme, network, price, payout, accept } = offer
    return [
      {
        ...{ rail: 'x402', scheme, payout },
        network: CAIP_2.test(network) ? network : null,
        usd: typeof price === 'number' ? price : (price.usd ?? null),
        ...(accept !== null && { accept }),
      },
    ]
  })
}

/** Of any namespace: what we do not price is as valid. */
const CAIP_2 = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/

function isWhole({ asset, payTo, amount }: X402Offer, value: unknown): boolean {
  const isNamed = typeof memberOf(value, 'scheme') === 'string'
  return isNamed && asset !== '' && (payTo ?? '') !== '' && /^\d{1,40}$/.test(amount)
}

function missing(saw: string): ReadTerms {
  return { found: false, saw }
}

/** Including the output. @param url the probed address */
function readX402Shapes(
  answer: ProbeAnswer,
  url: string,
): Pick<Operation, 'params' | 'body' | 'response'> {
  const header = headerOf(answer, 'payment-required')
  const said = header === undefined ? jsonOf(answer) : parseBase64Json(header)
  const { method: _, ...input } = readX402Input(said)
  const output = readX402Output(said)
  return { ...input, ...(output !== null && { response: { ...output, ref: url } }) }
}
