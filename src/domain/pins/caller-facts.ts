import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { normalizePayout } from '../listing/caip-account.ts'
import type { InvokeEntry } from '../listing/invoke.ts'
import type { ListingFacts } from '../listing/listing-facts.ts'
import type { Skill } from '../listing/tools-and-skills.ts'
import { toOperationKey } from '../operation/is-at-address.ts'
import type { SurfaceOperation } from '../operation/surface.ts'
import { toBase64Url } from '../relay/base64-json.ts'
import type { Interface } from '../trust/interface.ts'
import { toCanonicalJson } from '../wire/canonical-json.ts'

/** Facts a caller relies on, wherever they come from; a kit is one source. */
export interface CallerFacts {
  kind: ListingFacts['kind']
  url: string
  pricing: object
  /** CAIP-10. */
  payees: readonly string[]
  invoke: readonly Called[]
  operations: readonly CalledOperation[]
  tools: readonly { name: string; input_schema: unknown; effect?: unknown; assumed?: unknown }[]
  skills: readonly Skill[]
}

interface CalledOperation {
  method: string
  url: string
  price?: { max_usd: number; per: string } | undefined
  offers?: readonly { max_usd: number }[] | undefined
  params?:
    | readonly { name: string; in: string; required?: boolean | undefined; schema?: unknown }[]
    | undefined
  body?: Payload | undefined
  response?: Payload | undefined
}

interface Payload {
  content_type?: string | undefined
  schema?: unknown
}

type Called = { kind: 'http' } | Pick<Remote, 'kind' | 'url' | 'transport'> | Omit<Package, 'env'>
type Remote = Extract<InvokeEntry, { kind: 'mcp' }>
type Package = Extract<InvokeEntry, { kind: 'mcp_package' }>

/**
 * Digest of what a caller relies on: SHA-256 of its canonical JSON in base64url. The order of
 * operations, tools, offers and payees is not part of it, and neither is prose about the listing,
 * an example, our guess at what a call changes, the version of a package, or a probe's results.
 */
export function toDigest({ kind, url, pricing, payees, ...facts }: CallerFacts): string {
  const text = toCanonicalJson({
    ...{ kind, url, pricing: toUnordered(pricing), payees: [...payees].sort() },
    invoke: toSet(facts.invoke.flatMap(toCalled)),
    operations: toSet(facts.operations.map(toTold)),
    tools: toSet(
      facts.tools.map(({ input_schema, effect: _, assumed: __, ...tool }) => ({
        ...tool,
        input_schema: toUnordered(input_schema),
      })),
    ),
    skills: toSet(facts.skills.map(({ id, name, description }) => ({ id, name, description }))),
  })
  return toBase64Url(sha256(utf8ToBytes(text)))
}

/** Names of operations, tools and skills. */
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

/** @param isRotating the seller names another address each time: then its payee is not a fact */
export function payeesOf(
  { payout = [] }: Pick<ListingFacts, 'payout'>,
  { operations }: { operations: readonly Pick<SurfaceOperation, 'seen'>[] },
  read: Pick<Interface, 'payouts'> | undefined,
  isRotating: boolean,
): string[] {
  const [newest] = (read?.payouts ?? [])
    .map(({ seen_at }) => seen_at)
    .sort()
    .reverse()
  const asked = operations.flatMap(({ seen }) => seen?.pay_to ?? [])
  // Where no operation has its payee, such as an MCP server's, the last probe does.
  const last = (read?.payouts ?? []).filter(({ seen_at }) => seen_at === newest)
  const named = asked.length > 0 ? asked : last.map(({ payout }) => payout)
  return [...new Set([...payout, ...(isRotating ? [] : named)].map(normalizePayout))].sort()
}

function toCalled(entry: Called): object[] {
  if (entry.kind === 'http') return []
  if (entry.kind === 'mcp') return [{ url: entry.url, transport: entry.transport }]
  const { registry, identifier, transport, args = [] } = entry
  // An image's tag is a version: a caller who runs another one has it in their own file.
  const name = registry === 'oci' ? identifier.replace(/:\w[\w.-]*(?=@|$)/, '') : identifier
  return [{ registry, identifier: name, transport, args }]
}

function toTold({ method, url, price, offers = [], params = [], body, response }: CalledOperation) {
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

function toPayload(payload: Payload | undefined): unknown {
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
