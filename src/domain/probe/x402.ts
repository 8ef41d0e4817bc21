import type { Operation } from '../listing/listing-facts.ts'
import { readX402Offer, type X402Offer } from '../sources/payment-info.ts'
import { readX402Input, readX402Output } from '../sources/x402-manifest.ts'
import { toCaip2 } from '../trust/usd-assets.ts'
import { isJsonObject, memberOf, parseBase64Json } from '../wire/json.ts'
import type { HttpMethod, Rail } from '../wire/vocabulary.ts'
import {
  type Fault,
  type Finding,
  headerOf,
  jsonOf,
  judgeStatus,
  MAX_TERMS,
  mediaTypeOf,
  type PaymentTerm,
  type ProbeAnswer,
  type ReadTerms,
  readMppTerms,
  toFinding,
  toHeadText,
  toOfferWords,
  toWrong,
} from './finding.ts'

interface RequestedOperation {
  method: HttpMethod
  url: string
  /** Whether the method is our guess: if so, a seller that refuses it is not at fault. */
  isGuess: boolean
}

/**
 * `spoke` is a 402 whose terms can be decoded on a rail that the listing declares.
 * @param now milliseconds since the epoch
 */
export function judgePayment(
  answer: ProbeAnswer,
  operation: RequestedOperation,
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
    const { what, change } = toMissingTerms(read.map(({ result }) => result))
    return toWrong(protocol, answer, `status 402, ${what}`, change, what)
  }
  const terms = decoded.flatMap(({ result }) => result.terms)
  const { method, url } = operation
  const finding: Finding = {
    protocol: best.rail,
    outcome: 'spoke',
    version: best.rail === 'x402' ? best.result.version : '1',
    saw: `402 with ${toOfferWords(terms)}`,
    faults: decoded.flatMap(({ result }) => result.faults ?? []),
    sight: {
      from: best.rail,
      operation: { method, url, ...(best.rail === 'x402' && readX402Shapes(answer, url)) },
      terms,
      ...(decoded.some(({ result }) => result.isCut) && { truncated: true }),
    },
  }
  return toFinding(finding, answer)
}

/** The fault on the rail that the 402 tried; if it tried none, a fault that shows every way to state terms. */
export function toMissingTerms(read: readonly ReadTerms[]): Fault {
  const missing = read.flatMap((each) => (each.found ? [] : [each]))
  const tried = missing.find(({ isTried }) => isTried) ?? missing[0]
  if (tried !== undefined && (tried.isTried || missing.length === 1)) return tried
  return {
    what: 'the 402 states no terms: a caller who wants to pay finds neither a price nor a payee',
    change: `${RIGHT_X402} For MPP, send WWW-Authenticate: Payment with id, realm, method, intent and request.`,
  }
}

function judgeUnpaid(
  answer: ProbeAnswer,
  { method, isGuess }: RequestedOperation,
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
  if (Array.isArray(memberOf(jsonOf(answer), 'accepts')))
    return toWrong(protocol, answer, `terms of payment with status ${status}`, TERMS_NEED_402)
  const instead = status >= 200 && status <= 299 ? 'without payment' : 'instead of 402'
  return toWrong(protocol, answer, `status ${status} ${instead}, ${type}`)
}

/**
 * `spoke` is a 2xx with the declared content type or, if no type is declared, with JSON that parses.
 * @param expected the declared media type, or null
 * @param now milliseconds since the epoch
 */
export function judgeHttp(
  answer: ProbeAnswer,
  { method, url }: Pick<RequestedOperation, 'method' | 'url'>,
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
  const stated = `status ${status} with ${type || 'no content type'}`
  if (!isRight)
    return toWrong('http', answer, `${stated}, expected ${wanted ?? 'application/json'}`)
  // A truncated document is judged by its content type; a complete document must parse.
  if (isJsonType(type) && answer.cut !== 'size' && jsonOf(answer) === undefined)
    return toWrong('http', answer, `${stated} that is not JSON`)
  const sight = { from: 'http', operation: { method, url } } as const
  return toFinding({ protocol: 'http', outcome: 'spoke', saw: toHeadText(answer), sight }, answer)
}

function isJsonType(mediaType: string): boolean {
  return mediaType === 'application/json' || /^[a-z]+\/[a-z0-9.-]+\+json$/.test(mediaType)
}

/** How a seller should answer an unpaid call. */
export const RIGHT_X402 =
  'Answer an unpaid call with 402 and a PAYMENT-REQUIRED header: base64 of {"x402Version":2,"accepts":[…]}, each offer with scheme, network (CAIP-2), asset, payTo and amount in whole base units. Version 1 puts {"x402Version":1,"accepts":[…]} in the body, with maxAmountRequired.'
const RIGHT_HEADER =
  'base64 of {"x402Version":2,"accepts":[…]}. Clients of version 2 read nothing else.'
const TERMS_NEED_402 =
  'Send these terms with status 402: clients do not look for payment terms in any other answer.'

const HEADER = 'the PAYMENT-REQUIRED header'

/** Version 2 has terms in `PAYMENT-REQUIRED`, version 1 in the body. Terms elsewhere are read but are a fault. */
export function readX402Terms(answer: ProbeAnswer): ReadTerms {
  const header = headerOf(answer, 'payment-required')
  const body = jsonOf(answer)
  if (header !== undefined) {
    const value = parseBase64Json(header)
    if (isJsonObject(value)) return readOffers(value, 2, HEADER)
    const fault = {
      what: `${HEADER} is not base64 of JSON`,
      change: `Fix this header: it should be ${RIGHT_HEADER}`,
    }
    const former = memberOf(body, 'x402Version') === 1 ? readOffers(body, 1, 'the body') : null
    if (former?.found !== true) return missing(fault)
    const what = `${fault.what}; clients of version 1 can pay with the terms in the body`
    return { ...former, faults: [{ ...fault, what }] }
  }
  if (!isJsonObject(body) || (body.x402Version === undefined && body.accepts === undefined))
    return {
      found: false,
      isTried: false,
      what: 'the 402 has neither a PAYMENT-REQUIRED header nor terms in a JSON body',
      change: RIGHT_X402,
    }
  if (body.x402Version !== 2) return readOffers(body, 1, 'the body')
  const read = readOffers(body, 2, 'the body')
  if (!read.found) return read
  const what = 'the terms of x402 version 2 are in the body only'
  const change = `Send them in the PAYMENT-REQUIRED header too, as ${RIGHT_HEADER}`
  return { ...read, faults: [{ what, change }, ...(read.faults ?? [])] }
}

function readOffers(value: unknown, version: 1 | 2, where: string): ReadTerms {
  const stated = memberOf(value, 'x402Version')
  if (stated !== version) {
    const what =
      stated === undefined
        ? `the terms in ${where} name no x402Version`
        : `the terms in ${where} say x402Version ${JSON.stringify(stated).slice(0, 20)}`
    return missing({ what, change: `Say "x402Version": ${version} beside accepts.` })
  }
  const accepts = memberOf(value, 'accepts')
  if (!Array.isArray(accepts) || accepts.length === 0)
    return missing({
      what: `the terms in ${where} have no offers in accepts`,
      change: 'Put at least one offer into accepts: scheme, network, asset, payTo and amount.',
    })
  const offers = accepts.slice(0, MAX_TERMS)
  const faults = offers.flatMap((each, at) => findOfferFault(each, at, version)).slice(0, 1)
  const terms = toX402Terms(offers)
  const [first = { what: `no offer in ${where} can be signed`, change: RIGHT_X402 }] = faults
  if (terms.length === 0) return missing(first)
  return { found: true, version: `${version}`, terms, isCut: accepts.length > MAX_TERMS, faults }
}

/** The missing or wrong member of an offer that keeps clients from signing it. */
function findOfferFault(value: unknown, at: number, version: 1 | 2): Fault[] {
  const where = `accepts[${at}]`
  const amountName = version === 1 ? 'maxAmountRequired' : 'amount'
  const absent = ['scheme', 'network', 'asset', 'payTo', amountName].find(
    (name) => (memberOf(value, name) ?? '') === '',
  )
  if (absent !== undefined && (absent !== amountName || toX402Terms([value]).length === 0))
    return [{ what: `${where} has no ${absent}`, change: `Name ${absent} in every offer.` }]
  const amount = memberOf(value, 'amount') ?? memberOf(value, 'maxAmountRequired')
  if (!/^\d{1,40}$/.test(String(amount)))
    return [
      {
        what: `${where} asks for ${JSON.stringify(amount).slice(0, 40)}, which is not a whole number of base units`,
        change: 'Write the amount in base units: "10000" is one cent of a coin with 6 decimals.',
      },
    ]
  const network = memberOf(value, 'network')
  if (version === 1 || (typeof network === 'string' && CAIP_2.test(network))) return []
  const known = toCaip2(String(network)) ?? 'eip155:8453'
  return [
    {
      what: `${where} names the network ${JSON.stringify(network).slice(0, 40)}, which is not a CAIP-2 id`,
      change: `Version 2 names networks by CAIP-2: write ${known}.`,
    },
  ]
}

/** The offers that a client could sign, including offers that we cannot price. */
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

/** A network in any namespace: networks for which we know no prices are valid too. */
const CAIP_2 = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/

function isWhole({ asset, payTo, amount }: X402Offer, value: unknown): boolean {
  const isNamed = typeof memberOf(value, 'scheme') === 'string'
  return isNamed && asset !== '' && (payTo ?? '') !== '' && /^\d{1,40}$/.test(amount)
}

function missing(fault: Fault): Extract<ReadTerms, { found: false }> {
  return { found: false, isTried: true, ...fault }
}

/** The probed operation's input and output. @param url the probed address */
function readX402Shapes(
  answer: ProbeAnswer,
  url: string,
): Pick<Operation, 'params' | 'body' | 'response'> {
  const header = headerOf(answer, 'payment-required')
  const stated = header === undefined ? jsonOf(answer) : parseBase64Json(header)
  const { method: _, ...input } = readX402Input(stated)
  const output = readX402Output(stated)
  return { ...input, ...(output !== null && { response: { ...output, ref: url } }) }
}
