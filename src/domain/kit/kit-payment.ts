import * as v from 'valibot'
import { networksOf, type Pricing, railsOf } from '../listing/pricing.ts'
import { RAILS, type Rail } from '../wire/vocabulary.ts'

/** How to pay, for kit.json: which headers are sent and received on which rail. */
export const KitPaymentSchema = v.object({
  rails: v.array(v.picklist(RAILS)),
  networks: v.array(v.string()),
  request_headers: v.array(v.string()),
  /** Headers of the terms and of the receipt. */
  response_headers: v.array(v.string()),
  /** Paid tools of MCP servers: members of `_meta`, and how a call is paid for. */
  over_mcp: v.optional(
    v.object({
      request_meta: v.array(v.string()),
      response_meta: v.array(v.string()),
      how: v.string(),
    }),
  ),
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

/** Members of `_meta` that carry a payment and its receipt. */
const META: Record<Rail, { request: string; response: string }> = {
  x402: { request: 'x402/payment', response: 'x402/payment-response' },
  mpp: { request: 'org.paymentauth/credential', response: 'org.paymentauth/receipt' },
}

/** For pages and kits: the relay and `call_listing` pass HTTP calls alone. */
export const PAID_TOOLS =
  'A paid tool answers an unpaid call with its terms, as JSON-RPC error -32042 or as a result with isError. Your own MCP client pays them and repeats the call with the payment in _meta. The relay and call_listing call no tools.'

/** @param isMcp its tools are called over MCP, which has no headers of its own */
export function toKitPayment(
  pricing: Pricing,
  relayUrl: string | null,
  isMcp = false,
): v.InferOutput<typeof KitPaymentSchema> {
  const rails = [...railsOf(pricing)]
  return {
    rails,
    networks: [...networksOf(pricing)],
    request_headers: isMcp ? [] : rails.flatMap((rail) => HEADERS[rail].request),
    response_headers: isMcp ? [] : rails.flatMap((rail) => HEADERS[rail].response),
    ...(isMcp &&
      rails.length > 0 && {
        over_mcp: {
          request_meta: rails.map((rail) => META[rail].request),
          response_meta: rails.map((rail) => META[rail].response),
          how: PAID_TOOLS,
        },
      }),
    authority: rails.length > 0 && !rails.includes('x402') ? MPP_ALONE : AUTHORITY,
    custody: 'none',
    fee_usd: 0,
    relay: relayUrl === null ? null : { url: relayUrl, info: `${relayUrl}?relay_info=1` },
  }
}
