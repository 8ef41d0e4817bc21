import * as v from 'valibot'
import { type Pricing, railsOf } from '../listing/pricing.ts'
import { RAILS, type Rail } from '../wire/vocabulary.ts'

/** How to pay, for kit.json: which headers are sent and received on which rail. */
export const KitPaymentSchema = v.object({
  rails: v.array(v.picklist(RAILS)),
  networks: v.array(v.string()),
  request_headers: v.array(v.string()),
  /** Headers of the terms and of the receipt. */
  response_headers: v.array(v.string()),
  authority: v.string(),
  custody: v.literal('none'),
  fee_usd: v.literal(0),
  relay: v.nullable(v.object({ url: v.string(), info: v.string() })),
})

const AUTHORITY =
  "The seller's runtime 402 is authoritative for price, network and payee. These are the values the seller published."

/** Paid HTTP services have the same prefix on either rail. */
const MPP_ALONE = `${AUTHORITY} Its rails decide how it is paid, not the prefix of its id: it takes MPP and no x402 wallet.`

/** A v2 seller reads only `PAYMENT-SIGNATURE`, a v1 seller only `X-PAYMENT`: the 402 says which. */
const HEADERS: Record<Rail, { request: string[]; response: string[] }> = {
  x402: {
    request: ['PAYMENT-SIGNATURE', 'X-PAYMENT'],
    response: ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE'],
  },
  mpp: {
    request: ['Authorization', 'Accept-Payment'],
    response: ['WWW-Authenticate', 'Payment-Receipt'],
  },
}

export function toKitPayment(
  pricing: Pricing,
  relayUrl: string | null,
): v.InferOutput<typeof KitPaymentSchema> {
  const rails = [...railsOf(pricing)]
  return {
    rails,
    networks: pricing.model === 'per_call' ? [...pricing.networks] : [],
    request_headers: rails.flatMap((rail) => HEADERS[rail].request),
    response_headers: rails.flatMap((rail) => HEADERS[rail].response),
    authority: rails.length > 0 && !rails.includes('x402') ? MPP_ALONE : AUTHORITY,
    custody: 'none',
    fee_usd: 0,
    relay: relayUrl === null ? null : { url: relayUrl, info: `${relayUrl}?relay_info=1` },
  }
}
