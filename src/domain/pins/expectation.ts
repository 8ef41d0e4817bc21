import * as v from 'valibot'
import { PayoutSchema } from '../listing/caip-account.ts'
import { readMppTerms, toMppTerm } from '../probe/read/mpp-terms.ts'
import { parseBase64Json } from '../relay/base64-json.ts'
import { paymentsIn, type RawHeaders, valuesOf } from '../relay/relayed-headers.ts'
import { toCaip2, usdAssetOf } from '../settlement/usd-assets.ts'
import { isJsonObject, parseJson } from '../wire/parse-json.ts'
import {
  type Difference,
  EXPECT_HEADER,
  type Expectation,
  FORMER_EXPECT_HEADER,
  judgeOffer,
  type Offered,
  readOffer,
} from './offer.ts'

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
 * @returns null without such a header; a sentence where it cannot be read
 * @example parseExpectation(['Call-Expect', 'max_usd=0.05']) → { max_usd: 0.05 }
 */
export function parseExpectation(raw: RawHeaders): Expectation | null | string {
  const names = [EXPECT_HEADER, FORMER_EXPECT_HEADER]
  const lines = new Set(names.flatMap((name) => valuesOf(raw, name)))
  if (lines.size === 0) return null
  const members = [...lines].flatMap((line) => line.split(',')).map((member) => member.trim())
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

/** The payment a request carries, where it carries one: every word of it must be as expected. */
export function judgePayment(raw: RawHeaders, expectation: Expectation): Difference[] {
  return paymentsIn(raw)
    .flatMap((payment) => readPayment(parseBase64Json(payment)))
    .flatMap((each) => judgeOffer(each, expectation))
}

/** Each place where a client may read the terms must offer one way to pay that is as expected. */
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

const AuthorizedSchema = v.object({
  payload: v.object({ authorization: v.object({ to: v.string(), value: v.string() }) }),
})
/** By Permit2 the witness says who is paid; of `upto`, `amount` is the most that may be taken. */
const PermittedSchema = v.object({
  payload: v.object({
    permit2Authorization: v.object({
      permitted: v.object({ token: v.string(), amount: v.string() }),
      witness: v.object({ to: v.string() }),
    }),
  }),
})
const ChallengeSchema = v.object({ challenge: v.record(v.string(), v.unknown()) })

/** What was chosen of the offers (version 2), what was signed for, or the challenge of MPP. */
function readPayment(payment: unknown): Offered[] {
  if (!isJsonObject(payment)) return [{ payee: null, usd: null }]
  if (v.is(ChallengeSchema, payment)) {
    const words = Object.entries(payment.challenge).map(([name, value]) => [name, String(value)])
    const term = toMppTerm(new Map(words.map(([name = '', value = '']) => [name, value])))
    return [{ payee: term?.payout ?? null, usd: term?.usd ?? null }]
  }
  const { accepted } = payment
  const { network = payment.network, asset } = isJsonObject(accepted) ? accepted : {}
  const told: unknown[] = accepted === undefined ? [] : [accepted]
  if (v.is(AuthorizedSchema, payment)) {
    const { to: payTo, value: amount } = payment.payload.authorization
    // Version 1 does not say which coin: the network's dollar is the one it can be.
    const coin = usdAssetOf(toCaip2(String(network)) ?? '', { allowTestCoins: true })
    told.push({ network, asset: asset ?? coin?.address, payTo, amount })
  }
  if (v.is(PermittedSchema, payment)) {
    const { permitted, witness } = payment.payload.permit2Authorization
    const { token, amount } = permitted
    told.push({ network, asset: token, payTo: witness.to, amount })
  }
  return told.length === 0 ? [{ payee: null, usd: null }] : told.map((each) => readOffer(each))
}
