import * as v from 'valibot'
import { PayoutSchema } from '../listing/caip-account.ts'
import { readMppTerms } from '../probe/read/mpp-terms.ts'
import { parseBase64Json } from '../relay/base64-json.ts'
import { paymentsIn, type RawHeaders, valuesOf } from '../relay/relayed-headers.ts'
import { isJsonObject, parseJson } from '../wire/parse-json.ts'
import {
  type Difference,
  EXPECT_HEADER,
  type Expectation,
  judgeOffer,
  type Offered,
  readOffer,
} from './offer.ts'
import { readSignedPayment } from './signed-payment.ts'

/** What a caller expects of the listing it calls: header `Call-Expect`, `expect` of `call_listing`. */
export const ExpectationSchema = v.strictObject({
  digest: v.optional(v.pipe(v.string(), v.regex(/^[\w-]{43}$/, 'expected a digest of kit.json'))),
  /** CAIP-10; one of them must be paid. */
  payee: v.optional(v.pipe(v.array(PayoutSchema), v.minLength(1), v.maxLength(40))),
  /** The most the call may cost, in US dollars. */
  max_usd: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1e9))),
})

const WRITING =
  'Call-Expect: expected digest=…, payee=eip155:8453:0x… (may be repeated), max_usd=0.05'

/**
 * @returns null without such a header; a sentence where it cannot be parsed
 * @example parseExpectation(['Call-Expect', 'max_usd=0.05']) → { max_usd: 0.05 }
 */
export function parseExpectation(raw: RawHeaders): Expectation | null | string {
  const lines = valuesOf(raw, EXPECT_HEADER)
  if (lines.length === 0) return null
  const members = lines.flatMap((line) => line.split(',')).map((member) => member.trim())
  const pairs = members.map((member) => /^(\w+)=(\S+)$/.exec(member)?.slice(1) ?? ['', ''])
  const payee = pairs.flatMap(([name, value]) => (name === 'payee' ? [value] : []))
  const others = pairs.filter(([name]) => name !== 'payee')
  const given = { ...Object.fromEntries(others), ...(payee.length > 0 && { payee }) }
  const { max_usd: most = undefined } = given
  const parsed = v.safeParse(ExpectationSchema, {
    ...given,
    ...(most !== undefined && { max_usd: /^\d{1,9}(?:\.\d{1,18})?$/.test(most) ? +most : most }),
  })
  const isOnce = new Set(others.map(([name]) => name)).size === others.length
  return parsed.success && isOnce ? parsed.output : WRITING
}

/** The payment a request carries, if any: every part of it must be as expected. */
export function judgePayment(raw: RawHeaders, expectation: Expectation): Difference[] {
  return paymentsIn(raw)
    .flatMap((payment) => readSignedPayment(parseBase64Json(payment)))
    .flatMap((each) => judgeOffer(each, expectation))
}

/** Every place where a client may read the terms must offer a way to pay that is as expected. */
export function judgeTerms(raw: RawHeaders, body: string, expectation: Expectation): Difference[] {
  const header = valuesOf(raw, 'payment-required').map((value) => parseBase64Json(value))
  const mpp = readMppTerms({
    ...{ status: 402, body: '', cut: null, ms: 0 },
    headers: new Map([['www-authenticate', valuesOf(raw, 'www-authenticate')]]),
  })
  const places: Offered[][] = [
    ...[...header, parseJson(body)].map(readOffers),
    mpp.found ? mpp.terms.map(({ payout, usd }) => ({ payee: payout, usd })) : [],
  ].filter((offers) => offers.length > 0)
  const unread = [{ payee: null, usd: null }]
  return (places.length === 0 ? [unread] : places).flatMap((offers) => {
    const judged = offers.map((offer) => judgeOffer(offer, expectation))
    return judged.some((differences) => differences.length === 0) ? [] : (judged[0] ?? [])
  })
}

function readOffers(terms: unknown): Offered[] {
  const { accepts = [] } = isJsonObject(terms) ? terms : {}
  return Array.isArray(accepts) ? accepts.map((offer) => readOffer(offer)) : []
}
