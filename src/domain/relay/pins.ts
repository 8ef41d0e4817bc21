import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import * as v from 'valibot'
import type { InvokeEntry } from '../listing/invoke.ts'
import type { ListingFacts, Operation, Skill } from '../listing/listing-facts.ts'
import { normalizePayout, PayoutSchema, toPayout } from '../listing/networks.ts'
import { readMppTerms, toMppTerm } from '../probe/finding.ts'
import { toCaip2, toUsd, usdAssetOf } from '../trust/usd-assets.ts'
import {
  isJsonObject,
  listOf,
  memberOf,
  parseBase64Json,
  parseJson,
  toBase64Url,
  toCanonicalJson,
} from '../wire/json.ts'
import { toOperationKey } from '../wire/text.ts'
import { paymentsIn, type RawHeaders, valuesOf } from './relayed-headers.ts'

export const LOCK_FILE = 'waypost.lock'

/** Facts that a caller relies on, wherever they come from; a kit is one source. */
export interface CallerFacts {
  kind: ListingFacts['kind']
  url: string
  pricing: object
  /** CAIP-10. */
  payees: readonly string[]
  invoke: readonly Called[]
  operations: readonly CalledOperation[]
  tools: readonly { name: string; input_schema: unknown; effect?: unknown }[]
  skills: readonly Skill[]
}

type CalledOperation = Pick<
  Operation,
  'method' | 'url' | 'price' | 'offers' | 'params' | 'body' | 'response'
>

type Called = { kind: 'http' } | Pick<Remote, 'kind' | 'url' | 'transport'> | Omit<Package, 'env'>
type Remote = Extract<InvokeEntry, { kind: 'mcp' }>
type Package = Extract<InvokeEntry, { kind: 'mcp_package' }>

/**
 * Digest of what a caller relies on: SHA-256 of its canonical JSON in base64url. It ignores the
 * order of operations, tools, offers and payees. It leaves out prose about the listing, examples,
 * what a call changes, a package's version, and a probe's results.
 */
export function toDigest({ kind, url, pricing, payees, ...facts }: CallerFacts): string {
  const text = toCanonicalJson({
    ...{ kind, url, pricing: toUnordered(pricing), payees: [...payees].sort() },
    invoke: toSet(facts.invoke.flatMap(toCalled)),
    operations: toSet(facts.operations.map(toReported)),
    tools: toSet(
      facts.tools.map(({ input_schema, effect: _, ...tool }) => ({
        ...tool,
        input_schema: toUnordered(input_schema),
      })),
    ),
    skills: toSet(facts.skills.map(({ id, name, description }) => ({ id, name, description }))),
  })
  return toBase64Url(sha256(utf8ToBytes(text)))
}

export function callsOf({ operations, tools, skills }: CallerFacts): string[] {
  const names = [
    ...operations.map(toOperationKey),
    ...tools.map(({ name }) => name),
    ...skills.map(({ id }) => id),
  ]
  return [...new Set(names)].sort()
}

/** What the caller of one operation relies on: changes to other operations make no difference. */
export function toFactsOfCall(facts: CallerFacts, call: string): CallerFacts {
  const operations = facts.operations.filter((each) => toOperationKey(each) === call)
  const isPriced = operations.length > 0 && operations.every(({ price }) => price !== undefined)
  const shared = Object.entries(facts.pricing).filter(([name]) => !/^(?:min|max)_usd$/.test(name))
  return {
    ...facts,
    // The listing's price range spans all operations, so it is left out if the operation has a price.
    pricing: isPriced ? Object.fromEntries(shared) : facts.pricing,
    operations,
    tools: facts.tools.filter(({ name }) => name === call),
    skills: facts.skills.filter(({ id }) => id === call),
  }
}

function toCalled(entry: Called): object[] {
  if (entry.kind === 'http') return []
  if (entry.kind === 'mcp') return [{ url: entry.url, transport: entry.transport }]
  const { registry, identifier, transport, args = [] } = entry
  // An image's tag is a version: callers who run another version name it in their own files.
  const name = registry === 'oci' ? identifier.replace(/:\w[\w.-]*(?=@|$)/, '') : identifier
  return [{ registry, identifier: name, transport, args }]
}

function toReported({
  method,
  url,
  price,
  offers = [],
  params = [],
  body,
  response,
}: CalledOperation) {
  return {
    ...{ method, url, price, offers: toSet(offers) },
    params: toSet(
      params.map(({ name, in: place, required = false, schema }) => ({
        ...{ name, in: place, required, schema: toUnordered(schema) },
      })),
    ),
    body: toPayload(body),
    response: toPayload(response),
  }
}

function toPayload(payload: CalledOperation['body']): unknown {
  return payload && { type: payload.content_type, schema: toUnordered(payload.schema) }
}

/** Sorts lists of words in schemas and prices: some servers write them in a different order each time. */
function toUnordered(value: unknown): unknown {
  if (Array.isArray(value)) {
    const isWords = value.every((each) => typeof each === 'string')
    return isWords ? value.toSorted() : value.map(toUnordered)
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, toUnordered(member)]),
  )
}

function toSet(rows: readonly object[]): object[] {
  const keyed = rows.map((row) => ({ row, key: toCanonicalJson(row) }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row)
}

export const EXPECT_HEADER = 'call-expect'

export interface Difference {
  what: 'digest' | 'payee' | 'price'
  expected: string
  found: string
}

/** Payee and amount in an offer or a payment; null if missing or unreadable. */
interface Offered {
  /** CAIP-10. */
  payee: string | null
  usd: number | null
}

/** The value of the header `Call-Expect`. @example toExpectText({ max_usd: 0.05 }) → 'max_usd=0.05' */
export function toExpectText({ digest, payee = [], max_usd }: Expectation): string {
  return [
    ...(digest === undefined ? [] : [`digest=${digest}`]),
    ...payee.map((each) => `payee=${each}`),
    // Never written as 1e-7, because the header does not allow that form.
    ...(max_usd === undefined ? [] : [`max_usd=${max_usd.toFixed(18).replace(/\.?0+$/, '')}`]),
  ].join(', ')
}

/** @returns what is wrong with one way to pay; empty if it is as expected */
export function judgeOffer(offered: Offered, { payee, max_usd: most }: Expectation): Difference[] {
  const known = payee?.map(normalizePayout)
  const price = offered.usd === null ? 'a price in an unknown coin' : `$${offered.usd}`
  const isKnown = offered.payee !== null && known?.includes(normalizePayout(offered.payee))
  return [
    ...(known === undefined || isKnown
      ? []
      : [text('payee', known.join(' or '), offered.payee ?? 'a payee that cannot be read')]),
    ...(most === undefined || (offered.usd !== null && offered.usd <= most)
      ? []
      : [text('price', `at most $${most}`, price)]),
  ]
}

/** Parses one entry in x402's `accepts`. A ceiling is taken as the price; of two amounts, the larger one is taken. */
export function readOffer(offer: unknown, rules = { allowTestCoins: true }): Offered {
  const read = (name: string) => memberOf(offer, name)
  const network = toCaip2(String(read('network')))
  const amounts = [read('amount'), read('maxAmountRequired')].filter((each) => each !== undefined)
  const isComplete = amounts.length > 0 && amounts.every((each) => /^\d{1,30}$/.test(String(each)))
  const [least, most = least] = amounts.map(Number).sort((a, b) => a - b)
  return {
    payee: toPayout(network, String(read('payTo'))),
    usd: isComplete ? toUsd(network, String(read('asset')), String(most), rules) : null,
  }
}

/** One sentence for each difference. */
export function toSentences(differences: readonly Difference[]): string {
  return differences
    .map(
      ({ what, expected, found }) =>
        `The ${what} is not as expected: ${found} instead of ${expected}.`,
    )
    .join(' ')
}

function text(what: Difference['what'], expected: string, found: string): Difference {
  return { what, expected, found }
}

/** What a caller expects of the listing it calls: header `Call-Expect`, `expect` in `call_listing`. */
export const ExpectationSchema = v.strictObject({
  digest: v.optional(v.pipe(v.string(), v.regex(/^[\w-]{43}$/, 'expected a digest from kit.json'))),
  /** CAIP-10; the payment must go to one of them. */
  payee: v.optional(v.pipe(v.array(PayoutSchema), v.minLength(1), v.maxLength(40))),
  /** The most the call may cost, in US dollars. */
  max_usd: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1e9))),
})
export type Expectation = v.InferOutput<typeof ExpectationSchema>

const WRITING =
  'Call-Expect: expected one or more of digest=…, payee=eip155:8453:0x… (may be repeated), max_usd=0.05'

/**
 * @returns null if there is no such header; a sentence if it cannot be parsed
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

/** Judges the payment in a request, if any: every part of it must be as expected. */
export function judgePayment(raw: RawHeaders, expectation: Expectation): Difference[] {
  return paymentsIn(raw)
    .flatMap((payment) => readSignedPayment(parseBase64Json(payment)))
    .flatMap((each) => judgeOffer(each, expectation))
}

/** Judges terms: every place where a client may read them must offer a way to pay that is as expected. */
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
  return (places.length === 0 ? [UNREADABLE] : places).flatMap((offers) => {
    const judged = offers.map((offer) => judgeOffer(offer, expectation))
    return judged.some((differences) => differences.length === 0) ? [] : (judged[0] ?? [])
  })
}

function readOffers(terms: unknown): Offered[] {
  return listOf(memberOf(terms, 'accepts')).map((offer) => readOffer(offer))
}

/** Used for unreadable terms or an unreadable payment: either may pay anybody any amount. */
const UNREADABLE: readonly Offered[] = [{ payee: null, usd: null }]

/** An EIP-3009 authorisation, as in x402 and MPP. */
const AuthorizationSchema = v.object({ to: v.string(), value: v.string() })
/** In Permit2 the witness names the payee; for `upto`, `amount` is the most that may be taken. */
const PermitSchema = v.object({
  permitted: v.object({ token: v.string(), amount: v.string() }),
  witness: v.object({ to: v.string() }),
})
/** Batch settlement: the seller claims money with a voucher; before the first voucher the buyer makes a deposit. */
const VoucherSchema = v.object({
  channelConfig: v.object({ receiver: v.string(), token: v.string() }),
  voucher: v.object({ maxClaimableAmount: v.string() }),
  deposit: v.optional(v.object({ amount: v.string() })),
})
const PayloadSchema = v.union([
  v.object({ authorization: AuthorizationSchema }),
  v.object({ permit2Authorization: PermitSchema }),
  VoucherSchema,
])
const CredentialSchema = v.object({
  challenge: v.record(v.string(), v.unknown()),
  payload: v.optional(v.unknown()),
})

/**
 * What a payment states about payee and amount: the offer its client chose, or the challenge that it answers,
 * and the signed payload. Only the payload moves money, and a seller may craft terms that differ from it. So a
 * payment whose payload cannot be read here is unreadable, whatever its offer.
 */
function readSignedPayment(payment: unknown): readonly Offered[] {
  if (!isJsonObject(payment)) return UNREADABLE
  if (v.is(CredentialSchema, payment)) return readCredential(payment)
  const { accepted } = payment
  const signed = readSigned(payment)
  if (signed === null) return UNREADABLE
  const chosen = accepted === undefined ? [] : [accepted]
  return [...chosen, ...signed].map((each) => readOffer(each))
}

/** The payee that the payer signed, used to find a paid call again. CAIP-10; null if it cannot be read. */
export function readSignedPayee(payment: unknown): string | null {
  if (!isJsonObject(payment)) return null
  if (payment.challenge !== undefined && v.is(CredentialSchema, payment))
    return readCredential(payment).at(-1)?.payee ?? null
  const signed = readSigned(payment)?.at(-1)
  return signed === undefined ? null : toPayout(toCaip2(String(signed.network)), signed.payTo)
}

/** The payee and amount that an x402 payload signs; null if they cannot be read here. */
function readSigned({ accepted, payload, ...version1 }: Record<string, unknown>) {
  if (!v.is(PayloadSchema, payload)) return null
  const { network = version1.network, asset } = isJsonObject(accepted) ? accepted : {}
  return toSigned(payload, asset ?? dollarOf(network)).map((each) => ({ network, ...each }))
}

function toSigned(payload: v.InferOutput<typeof PayloadSchema>, asset: unknown) {
  if ('authorization' in payload) {
    const { to: payTo, value: amount } = payload.authorization
    return [{ asset, payTo, amount }]
  }
  if ('permit2Authorization' in payload) {
    const { permitted, witness } = payload.permit2Authorization
    return [{ asset: permitted.token, payTo: witness.to, amount: permitted.amount }]
  }
  const { channelConfig, voucher, deposit } = payload
  const { receiver: payTo, token } = channelConfig
  const amounts = [voucher.maxClaimableAmount, ...(deposit === undefined ? [] : [deposit.amount])]
  return amounts.map((amount) => ({ asset: token, payTo, amount }))
}

/** Version 1 does not name the coin: it can only be the network's dollar coin. */
function dollarOf(network: unknown): string | undefined {
  return usdAssetOf(toCaip2(String(network)) ?? '', { allowTestCoins: true })?.address
}

/** An MPP payment: the challenge as it was posed, and the authorisation that answers it. */
function readCredential({ challenge, payload }: v.InferOutput<typeof CredentialSchema>) {
  const term = toMppTerm(challenge)
  if (term === null || !v.is(AuthorizationSchema, payload)) return UNREADABLE
  const { to: payTo, value: amount } = payload
  const { network } = term
  const signed = readOffer({ network, asset: dollarOf(network), payTo, amount })
  return [{ payee: term.payout, usd: term.usd }, signed]
}
