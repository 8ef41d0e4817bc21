import { readPaymentInfo } from '../discovery/payment-info.ts'
import { toPrice } from '../listing/offers.ts'
import type { Tool } from '../listing/tools-and-skills.ts'
import { isJsonObject, memberOf, parseJson } from '../wire/parse-json.ts'
import { RAILS } from '../wire/vocabulary.ts'
import { MAX_TERMS, type PaymentTerm } from './finding.ts'
import { toMppTerm } from './mpp.ts'
import { toX402Terms } from './x402.ts'

/** The answer to one message of JSON-RPC. */
export type RpcReply =
  | { kind: 'result'; result: Record<string, unknown> }
  | { kind: 'error'; code: number; message: string; data: unknown }

/** Codes of errors that ask for a payment; most servers use the first, some HTTP's own. */
const PAYMENT_ERRORS = new Set([-32_042, -32_402, 402])
const MAX_TEXT = 64 * 1024

/**
 * What an unpaid request is answered with: an error with terms in `data`, or the result of a tool
 * that is an error, whose terms stand in `structuredContent`, `_meta` or its text.
 */
export function readRpcTerms(reply: RpcReply | null): PaymentTerm[] {
  if (reply === null) return []
  if (reply.kind === 'error') return PAYMENT_ERRORS.has(reply.code) ? readTerms(reply.data) : []
  const { isError, structuredContent, _meta, content } = reply.result
  if (isError !== true) return []
  const texts = (Array.isArray(content) ? content : []).slice(0, 3).flatMap((part) => {
    const text = memberOf(part, 'text')
    return typeof text === 'string' && text.length <= MAX_TEXT ? [parseJson(text)] : []
  })
  const said = [structuredContent, ...Object.values(isJsonObject(_meta) ? _meta : {}), ...texts]
  return said.map(readTerms).find((terms) => terms.length > 0) ?? []
}

/** Offers of x402, or challenges of MPP. */
function readTerms(said: unknown): PaymentTerm[] {
  const [accepts, challenges] = ['accepts', 'challenges'].map((name) => {
    const list = memberOf(said, name)
    return Array.isArray(list) ? list.slice(0, MAX_TERMS) : []
  })
  return [
    ...toX402Terms(accepts ?? []),
    ...(challenges ?? []).flatMap((each) => (isJsonObject(each) && toMppTerm(each)) || []),
  ]
}

type Sold = Pick<Tool, 'price' | 'offers'>

/** The price and ways to pay of a tool, from its terms. */
export function toSold(terms: readonly PaymentTerm[]): Sold {
  return toPrice(
    terms.flatMap(({ rail, network, usd }) =>
      usd === null ? [] : [{ rail, network, min_usd: usd, max_usd: usd }],
    ),
  )
}

/**
 * What `tools/list` says of a tool's price: `payment` beside its schema, or members of `_meta` in
 * the shapes of documents, each in a name space of its author.
 */
export function readToolPrice(tool: Record<string, unknown>): { sold: Sold; isPaid: boolean } {
  const meta = isJsonObject(tool._meta) ? tool._meta : {}
  const named = [...Object.entries(meta), ['payment', tool.payment] as const].filter(
    ([name, value]) => /pay|pric|x402|mpp|cost/i.test(name) && (value ?? null) !== null,
  )
  const flat = Object.fromEntries(
    named.map(([name, value]) => [name.slice(name.lastIndexOf('/') + 1), value]),
  )
  const protocols = RAILS.filter((rail) =>
    named.some(([name]) => name.toLowerCase().includes(rail)),
  )
  const sold = [...named.map(([, value]) => value), { protocols, ...flat }]
    .map(readPaymentInfo)
    .find(({ price }) => price !== undefined)
  const { price, offers } = sold ?? {}
  const isMarked = named.some(([name, value]) => /required$/i.test(name) && value === true)
  return {
    sold: { ...(price !== undefined && { price }), ...(offers !== undefined && { offers }) },
    isPaid: isMarked || (price !== undefined && price.max_usd > 0),
  }
}
