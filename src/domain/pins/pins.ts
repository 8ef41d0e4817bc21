import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import * as v from 'valibot'
import type { InvokeEntry } from '../listing/invoke.ts'
import type { ListingFacts, Operation, Skill } from '../listing/listing-facts.ts'
import { ID_PATTERN } from '../listing/listing-text.ts'
import { chainOf } from '../listing/networks.ts'
import { NetworkSchema, type Pricing } from '../listing/pricing.ts'
import { toOperationKey } from '../operation/is-at-address.ts'
import { toBase64Url } from '../relay/base64-json.ts'
import { parseJson, toCanonicalJson } from '../wire/json.ts'
import { readOffer } from './expectation.ts'

export const LOCK_FILE = 'waypost.lock'

const names = v.array(v.string())
const digest = v.pipe(v.string(), v.regex(/^[\w-]{43}$/, 'expected a digest of 43 characters'))

/** What a caller relies on of one listing, in a form people can review. */
const LockEntrySchema = v.strictObject({
  /** Digest of the whole listing; null where only some calls are pinned. */
  digest: v.nullable(digest),
  hosts: names,
  /** The most a call may cost, in US dollars; null where no price is known. */
  max_usd: v.nullable(v.pipe(v.number(), v.minValue(0, 'expected a price of 0 or more'))),
  payees: v.record(NetworkSchema, names),
  /** Operations, tools and skills, each with the digest of what its caller relies on. */
  calls: v.record(v.string(), digest),
})
export type LockEntry = v.InferOutput<typeof LockEntrySchema>

const LockSchema = v.strictObject({
  version: v.literal(1, 'expected 1'),
  /** The directory it comes from: another one may mean another service by the same id. */
  directory: v.string(),
  listings: v.record(v.pipe(v.string(), v.regex(ID_PATTERN, 'expected ids')), LockEntrySchema),
})
export type Lock = v.InferOutput<typeof LockSchema>

/** @returns a sentence naming the path where it is not a lock */
export function parseLock(text: string): Lock | string {
  const parsed = v.safeParse(LockSchema, parseJson(text))
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  return `${v.getDotPath(issue) ?? 'the file'}: ${issue.message}`
}

/** Sorted, one fact per line: made for review. */
export function toLockText({ version, directory, listings }: Lock): string {
  const sorted = Object.entries(listings).sort(([a], [b]) => (a < b ? -1 : 1))
  return `${JSON.stringify({ version, directory, listings: Object.fromEntries(sorted) }, null, 2)}\n`
}

interface Pinned extends CallerFacts {
  digest: string
  pricing: Pricing
}

/** @param only the calls that are pinned; all of them without it */
export function toLockEntry(kit: Pinned, only?: readonly string[]): LockEntry {
  const { url, invoke, pricing } = kit
  const calls = callsOf(kit).filter((call) => only === undefined || only.includes(call))
  const operations = kit.operations.filter((each) => calls.includes(toOperationKey(each)))
  const urls = [url, ...invoke.flatMap((entry) => ('url' in entry ? String(entry.url) : []))]
  const prices = [
    ...(pricing.model === 'per_call' && only === undefined ? [pricing.max_usd] : []),
    ...operations.flatMap(({ price, offers = [] }) => [
      ...(price?.per === 'call' ? [price.max_usd] : []),
      ...offers.map(({ max_usd }) => max_usd),
    ]),
  ]
  return {
    digest: only === undefined ? kit.digest : null,
    hosts: toSorted(
      urls.flatMap((each) => URL.parse(each.replace(/[<{][^>}]*[>}]/g, 'x'))?.host ?? []),
    ),
    max_usd: prices.length === 0 ? null : prices.reduce((most, each) => Math.max(most, each)),
    payees: byNetwork(kit.payees),
    calls: Object.fromEntries(calls.map((call) => [call, toDigest(toFactsOfCall(kit, call))])),
  }
}

/** The calls a lock is limited to; undefined where it pins all. */
export function onlyOf({ digest, calls }: LockEntry): string[] | undefined {
  return digest === null ? Object.keys(calls) : undefined
}

/** The entry with payees and price of the seller's own terms, where the directory knows no payee. */
export function withTerms(entry: LockEntry, accepts: readonly unknown[]): LockEntry {
  const offers = accepts.map((offer) => readOffer(offer))
  const prices = offers.flatMap(({ usd }) => usd ?? [])
  return {
    ...entry,
    payees: byNetwork(offers.flatMap(({ payee }) => payee ?? [])),
    max_usd:
      entry.max_usd ?? (prices.length === 0 ? null : prices.reduce((a, b) => Math.max(a, b))),
  }
}

/** One line each. @example describeDrift(pinned, now) → ['price: at most $0.01, now $0.05'] */
export function describeDrift(was: LockEntry, is: LockEntry): string[] {
  // Payees that only the seller's terms named are judged when it is called.
  const knownNow = Object.keys(is.payees).length > 0 ? is.payees : was.payees
  const networks = toSorted([...Object.keys(was.payees), ...Object.keys(knownNow)])
  const shared = [
    ...toSetLines('host', was.hosts, is.hosts),
    ...networks.flatMap((network) =>
      toSetLines(`payee on ${network}`, was.payees[network] ?? [], knownNow[network] ?? []),
    ),
    ...(is.max_usd === was.max_usd || is.max_usd === null
      ? []
      : [`price: at most ${toPrice(was.max_usd)}, now ${toPrice(is.max_usd)}`]),
  ]
  const names = Object.keys(was.calls)
  const changed = names.filter((call) => ![undefined, was.calls[call]].includes(is.calls[call]))
  const isOfEach = changed.length === names.length && changed.length > 1
  const lines = [
    ...shared,
    ...toSetLines('call', names, Object.keys(is.calls)),
    // Facts that all calls share have their own lines, or belong to no single call.
    ...(shared.length > 0 || isOfEach ? [] : changed.map((call) => `call changed: ${call}`)),
  ]
  return lines.length > 0 || (was.digest === is.digest && changed.length === 0)
    ? lines
    : ['facts about all its calls changed, such as rails, networks or arguments']
}

function toSetLines(what: string, was: readonly string[], is: readonly string[]): string[] {
  return [
    ...was.filter((each) => !is.includes(each)).map((each) => `${what} removed: ${each}`),
    ...is.filter((each) => !was.includes(each)).map((each) => `${what} added: ${each}`),
  ]
}

function byNetwork(payees: readonly string[]): Record<string, string[]> {
  const sorted = toSorted(payees)
  // The client runs on Node 20, which has no Map.groupBy.
  const networks = toSorted(sorted.map(chainOf))
  return Object.fromEntries(
    networks.map((network) => [
      network,
      sorted
        .filter((each) => chainOf(each) === network)
        .map((each) => each.slice(network.length + 1)),
    ]),
  )
}

function toSorted(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort()
}

function toPrice(usd: number | null): string {
  return usd === null ? 'an unknown price' : `$${usd}`
}

/** Facts a caller relies on, wherever they come from; a kit is one source. */
interface CallerFacts {
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
 * Digest of what a caller relies on: SHA-256 of its canonical JSON in base64url. The order of
 * operations, tools, offers and payees is not part of it, and neither is prose about the listing,
 * an example, what a call changes, the version of a package, or a probe's results.
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

/** What the caller of one operation relies on: changes of another one are irrelevant. */
export function toFactsOfCall(facts: CallerFacts, call: string): CallerFacts {
  const operations = facts.operations.filter((each) => toOperationKey(each) === call)
  const isPriced = operations.length > 0 && operations.every(({ price }) => price !== undefined)
  const shared = Object.entries(facts.pricing).filter(([name]) => !/^(?:min|max)_usd$/.test(name))
  return {
    ...facts,
    // The listing's range of prices spans those of all operations.
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
  // An image's tag is a version: a caller who runs another one has it in their own file.
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

/** Lists of words in schemas and prices are sets: servers write them in hash-table order. */
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
