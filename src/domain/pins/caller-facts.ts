import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { normalizePayout } from '../listing/caip-account.ts'
import type { InvokeEntry } from '../listing/invoke.ts'
import type { ListingFacts } from '../listing/listing-facts.ts'
import type { Surface, SurfaceOperation } from '../operation/surface.ts'
import type { Interface } from '../trust/interface.ts'
import { toCanonicalJson } from '../wire/canonical-json.ts'

/** What a caller relies on, wherever it was learned. */
export interface Relied {
  facts: ListingFacts
  surface: Surface
  /** CAIP-10. */
  payees: readonly string[]
}

/**
 * Names what a caller relies on: the SHA-256 of its canonical JSON in base64url. The order
 * of operations, tools, offers and payees is no fact, and neither is prose about the listing, an
 * example, or what a probe saw.
 */
export function toDigest({ facts, surface, payees }: Relied): string {
  const text = toCanonicalJson({
    kind: facts.kind,
    url: facts.url,
    pricing: toUnordered(facts.pricing),
    payees: [...payees].sort(),
    invoke: toSet(facts.invoke.map(toCalled)),
    operations: toSet(surface.operations.map(toTold)),
    tools: toSet(
      surface.tools.map(({ input_schema, ...tool }) => ({
        ...tool,
        input_schema: toUnordered(input_schema),
      })),
    ),
    skills: toSet(surface.skills.map(({ id, name, description }) => ({ id, name, description }))),
  })
  const binary = Array.from(sha256(utf8ToBytes(text)), (byte) => String.fromCharCode(byte)).join('')
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace('=', '')
}

/**
 * Who is paid: what the listing publishes, and what the seller's own 402 named last.
 *
 * @param isRotating the seller names another address each time: then what it named is no fact
 */
export function payeesOf(
  { payout = [] }: Pick<ListingFacts, 'payout'>,
  { operations }: Pick<Surface, 'operations'>,
  read: Pick<Interface, 'payouts'> | undefined,
  isRotating: boolean,
): string[] {
  const [newest] = (read?.payouts ?? [])
    .map(({ seen_at }) => seen_at)
    .sort()
    .reverse()
  const asked = operations.flatMap(({ seen }) => seen?.pay_to ?? [])
  // Where no operation remembers its payee, such as an MCP server's, the last look does.
  const last = (read?.payouts ?? []).filter(({ seen_at }) => seen_at === newest)
  const named = asked.length > 0 ? asked : last.map(({ payout }) => payout)
  return [...new Set([...payout, ...(isRotating ? [] : named)].map(normalizePayout))].sort()
}

function toCalled(entry: InvokeEntry): object {
  if (entry.kind === 'mcp') return { url: entry.url, transport: entry.transport }
  const { registry, identifier, transport, args = [] } = entry
  return { registry, identifier, transport, args }
}

function toTold({
  method,
  url,
  price,
  offers = [],
  params = [],
  body,
  response,
}: SurfaceOperation) {
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

function toPayload(payload: SurfaceOperation['body']): unknown {
  return payload && { type: payload.content_type, schema: toUnordered(payload.schema) }
}

/** Lists of words in schemas and prices are sets: servers write them in the order of a hash table. */
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
