import * as v from 'valibot'
import type { Operation } from '../../src/domain/listing/listing-facts.ts'
import { offersOf, pricingOf } from '../../src/domain/listing/operation.ts'
import { collapseOperations, originOf } from '../../src/domain/sources/join-rows.ts'
import { readPaidEntry } from '../../src/domain/sources/x402-manifest.ts'
import { largestOf } from '../../src/domain/wire/json.ts'
import {
  type ChosenSeeds,
  faultOf,
  findOperationAddressFault,
  foreignTexts,
  gatherSeeds,
  leftOut,
  type Mapped,
  type MapRules,
  mapReported,
  optionalList,
  PAID_API,
  parseRow,
  type Refusal,
  refuse,
  type Seed,
  toInstant,
  toPayees,
} from '../facts/map-rows.ts'
import { withPlainWords } from '../facts/seed-texts.ts'
import type { SeedSource } from '../fetch/read-source.ts'

const API = 'https://api.cdp.coinbase.com/platform/v2/x402/discovery'
const SOURCE = 'cdp_bazaar'

/** The catalogue's counts cover thirty days. */
const WINDOW_MS = 30 * 86_400_000

const NAMED_ENDPOINTS = 4
const MAX_ACCEPTS = 50

const counted = v.nullish(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1e12)))

/**
 * One endpoint in an x402 discovery answer, version 1 or 2. A manifest describes payment and shapes
 * in the same form.
 */
const RowSchema = v.object({
  resource: v.pipe(v.string('expected the URL of an endpoint'), v.maxLength(2000)),
  ...foreignTexts('type', 'description', 'serviceName'),
  tags: optionalList,
  /** How often the catalogue saw the endpoint used. */
  quality: v.optional(
    v.fallback(
      v.nullable(v.object({ l30DaysTotalCalls: counted, l30DaysUniquePayers: counted })),
      null,
    ),
    null,
  ),
  /** When a saved page was captured, copied from the page into each row. */
  captured_utc: v.pipe(v.nullish(v.string()), v.transform(toInstant)),
  accepts: v.pipe(
    v.array(v.unknown(), 'expected a list of ways to pay'),
    v.maxLength(MAX_ACCEPTS, `expected at most ${MAX_ACCEPTS} ways to pay`),
  ),
  extensions: v.nullish(v.record(v.string(), v.unknown())),
})
type Row = v.InferOutput<typeof RowSchema>

/** The x402 discovery catalogue. Its rows come and go with payments, so a missing row is not gone. */
export const x402Bazaar: SeedSource = {
  id: 'x402-bazaar',
  title: 'paid endpoints of the x402 Bazaar, one listing for each origin',
  liveUrl: `${API}/resources?limit=100`,
  lists: ['items', 'resources'],
  expected: 'a page of x402 resources or a line of JSON for each',
  isRow: (value) => typeof value.resource === 'string',
  savedAt: 'captured_utc',
  choose: chooseOrigins,
}

function chooseOrigins(values: readonly unknown[], rules: MapRules): ChosenSeeds {
  const judged = values.map((value) => {
    const parsed = parseRow(RowSchema, value, 'resource')
    return 'row' in parsed ? mapEndpoint(parsed.row, rules) : parsed
  })
  const endpoints = judged.filter((each) => 'operation' in each)
  const [tools, others] = [true, false].map((isTool) =>
    endpoints.filter(({ row }) => (row.type === 'mcp') === isTool),
  )
  const byServer = Map.groupBy(tools ?? [], ({ operation }) => operation.url)
  const byOrigin = Map.groupBy(others ?? [], ({ origin }) => origin)
  return gatherSeeds([
    ...judged.filter((each) => 'refusal' in each),
    ...[...byOrigin].map(([origin, rows]) => mapOrigin(origin, rows, rules)),
    ...[...byServer].map(([url, rows]) => mapServerTools(url, rows, rules)),
  ])
}

/** An endpoint that can be listed and, if it has no price, the reason. */
interface Endpoint {
  row: Row
  origin: string
  operation: Operation
  stated: string | undefined
  dropped: Refusal[]
  payees: string[]
}

function mapEndpoint(row: Row, rules: MapRules) {
  const { resource } = row
  const fault = findOperationAddressFault(resource, rules)
  if (fault !== null) return refuse(resource, fault)
  const { ref } = sourceOf(URL.parse(resource)?.host ?? resource)
  const read = readPaidEntry(row, { base: resource, ref })
  if (read === null) return refuse(resource, faultOf('invalid_row', 'expected an operation'))
  const { payees, placeholder, fault: unpriced } = read.payment
  if (unpriced?.reason === 'test_network') return refuse(resource, unpriced)
  const fake = placeholder ?? payees.find((payee) => ONE_DIGIT.test(payee))
  if (fake !== undefined)
    return refuse(resource, faultOf('known_fake', `expected a wallet, got ${JSON.stringify(fake)}`))
  const [operation = read.operation] = withPlainWords([read.operation])
  const dropped = unpriced === undefined ? [] : [{ ...unpriced, name: resource }]
  const stated = row.description ?? read.operation.description
  return { row, origin: originOf(operation.url) ?? '', operation, stated, dropped, payees }
}

/** All endpoints on one origin as one listing. */
function mapOrigin(origin: string, endpoints: readonly Endpoint[], rules: MapRules): Mapped {
  const { http, pricing, left } = collapseOperations(endpoints.map(({ operation }) => operation))
  const host = URL.parse(origin)?.host ?? origin
  const rows = endpoints.length
  const stated = endpoints.map((each) => each.stated)
  return mapReported(
    {
      key: origin,
      prefix: 'x402',
      rows,
      names: [...endpoints.map(({ row }) => row.serviceName), host],
      stated: [rows === 1 ? stated[0] : null, describe(host, http)],
      tags: endpoints.flatMap(({ row }) => row.tags ?? []),
      words: [...stated, ...http.map(({ url }) => pathOf(url))],
      payees: toPayees(endpoints.flatMap(({ payees }) => payees)),
      facts: { ...PAID_API, url: origin, pricing, http, sources: [sourceOf(host)] },
      dropped: [...endpoints.flatMap(({ dropped }) => dropped), ...leftOut(origin, left)],
      ...toUse(endpoints, rules),
    },
    rules,
  )
}

/** Lists one MCP server's paid tools as one listing, because clients connect to the server. */
function mapServerTools(url: string, endpoints: readonly Endpoint[], rules: MapRules): Mapped {
  const host = URL.parse(url)?.host ?? url
  const rows = endpoints.length
  return mapReported(
    {
      key: `mcp ${url}`,
      prefix: 'mcp',
      rows,
      names: [...endpoints.map(({ row }) => row.serviceName), host],
      stated: [...endpoints.map((each) => each.stated), `${rows} paid tools at ${host}.`],
      facts: {
        kind: 'mcp_server',
        url,
        pricing: pricingOf(offersOf(endpoints.map(({ operation }) => operation))),
        cost: 'paid',
        invoke: [{ kind: 'mcp', transport: 'streamable-http', url }],
        sources: [sourceOf(host)],
      },
      ...toUse(endpoints, rules),
    },
    rules,
  )
}

/** The calls to all endpoints, but the payers of only the endpoint with the most: one may pay several endpoints. */
function toUse(endpoints: readonly Endpoint[], { now }: MapRules): Pick<Seed, 'evidence'> {
  const calls = endpoints.flatMap(({ row }) => row.quality?.l30DaysTotalCalls ?? [])
  const payers = endpoints.flatMap(({ row }) => row.quality?.l30DaysUniquePayers ?? [])
  if (calls.length === 0) return {}
  const as_of = endpoints.flatMap(({ row }) => row.captured_utc ?? [])[0] ?? now
  const from = new Date(Date.parse(as_of) - WINDOW_MS).toISOString().slice(0, 10)
  const window = { source: SOURCE, from, to: as_of.slice(0, 10), as_of }
  const sum = calls.reduce((all, each) => all + each, 0)
  const reported_use = [
    { ...window, what: 'calls', value: sum },
    ...(payers.length > 0 ? [{ ...window, what: 'payers', value: largestOf(payers) }] : []),
  ]
  return { evidence: { reported_use } }
}

function sourceOf(host: string) {
  return { source: SOURCE, ref: `${API}/search?query=${encodeURIComponent(host)}` }
}

/** A sentence of facts, for sellers that gave none. */
function describe(host: string, http: readonly Operation[]): string {
  const paths = http.map(({ url }) => pathOf(url)).filter((path) => path !== '')
  const named = paths.slice(0, NAMED_ENDPOINTS).join(', ')
  const more = paths.length > NAMED_ENDPOINTS ? ' and more' : ''
  const count = http.length === 1 ? 'One paid endpoint' : `${http.length} paid endpoints`
  return `${count} at ${host}${named === '' ? '' : `: ${named}${more}`}.`
}

function pathOf(url: string): string {
  return (URL.parse(url)?.pathname ?? '').replace(/%7B(\w+)%7D/g, '{$1}').replace(/^\/|\/$/g, '')
}

/** Wallets with one repeated digit, from sellers' tests; a catalogue's rows may name them too. */
const ONE_DIGIT = /:0x([0-9a-f])\1{39}$/i
