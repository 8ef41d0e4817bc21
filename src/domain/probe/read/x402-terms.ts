import * as v from 'valibot'
import { toPayout } from '../../listing/caip-account.ts'
import { parseBase64Json } from '../../relay/base64-json.ts'
import { toCaip2, toUsd } from '../../settlement/usd-assets.ts'
import { AcceptSchema } from '../../trust/seen-answer.ts'
import { isJsonObject, present } from '../../wire/parse-json.ts'
import type { PaymentTerm } from './finding.ts'
import { headerOf, jsonOf, type ProbeAnswer } from './probe-answer.ts'

/** Offers read from one 402; the rest is cut and marked so. */
export const MAX_TERMS = 50

const units = v.pipe(v.string(), v.regex(/^\d{1,40}$/))
const short = v.pipe(v.string(), v.minLength(1), v.maxLength(200))

const OfferSchema = v.pipe(
  v.object({
    scheme: short,
    network: short,
    asset: short,
    payTo: short,
    amount: v.optional(units),
    maxAmountRequired: v.optional(units),
    maxTimeoutSeconds: v.optional(v.unknown()),
    extra: v.optional(v.unknown()),
  }),
  v.check(({ amount, maxAmountRequired }) => (amount ?? maxAmountRequired) !== undefined),
)

export type ReadTerms =
  | { found: true; version: string; terms: PaymentTerm[]; isCut: boolean }
  | { found: false; saw: string }

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
  const terms = accepts.slice(0, MAX_TERMS).flatMap((offer) => {
    const parsed = v.safeParse(OfferSchema, offer)
    return parsed.success ? [toTerm(parsed.output)] : []
  })
  if (terms.length === 0)
    return missing(
      `no offer in ${where} has scheme, network, asset, payTo and a whole-number amount`,
    )
  return { found: true, version, terms, isCut: accepts.length > MAX_TERMS }
}

function toTerm(offer: v.InferOutput<typeof OfferSchema>): PaymentTerm {
  const network = toCaip2(offer.network)
  const amount = offer.amount ?? offer.maxAmountRequired ?? ''
  const { scheme, asset, payTo, maxTimeoutSeconds, extra } = offer
  const accept = v.safeParse(AcceptSchema, {
    ...{ scheme, network, asset, amount, payTo, maxTimeoutSeconds },
    ...present({ extra: extra ?? undefined }),
  })
  return {
    rail: 'x402',
    scheme,
    network,
    // Any other scheme's amount is a ceiling, not a price.
    usd: scheme === 'exact' ? toUsd(network, asset, amount) : null,
    payout: toPayout(network, payTo),
    ...(accept.success && { accept: accept.output }),
  }
}

function missing(saw: string): ReadTerms {
  return { found: false, saw }
}
