import { isPlaceholderWallet, toOffer } from '../../../src/domain/discovery/x402-offers.ts'
import { isTestNetwork } from '../../../src/domain/listing/networks.ts'
import {
  eachOnce,
  type Offer,
  offersOf,
  pricingOf,
  toPrice,
} from '../../../src/domain/listing/offers.ts'
import type { Operation } from '../../../src/domain/listing/operation.ts'
import { originOf } from '../../../src/domain/sources/listing-marks.ts'
import { collapseOperations } from '../../../src/domain/sources/unite-operations.ts'
import { largestOf } from '../../../src/domain/wire/extremes.ts'
import {
  gatherSeeds,
  type MappedSeed,
  mapTold,
  PAID_API,
  parseRow,
  refuse,
} from '../../facts/map-rows.ts'
import { leftOut, toMethod, toOperationAddress, toPathParams } from '../../facts/operations.ts'
import { type Fault, faultOf, type Refusal } from '../../facts/refusal.ts'
import { type Seed, toPayees } from '../../facts/seed-facts.ts'
import type { ChosenSeeds, MapRules, SeedSource } from '../../facts/seed-source.ts'
import { toSeedLine, withPlainWords } from '../../facts/seed-texts.ts'
import { type BazaarRow, BazaarRowSchema } from './bazaar-row.ts'

const API = 'https://api.cdp.coinbase.com/platform/v2/x402/discovery'
const SOURCE = 'cdp_bazaar'

/** The catalogue counts thirty days. */
const WINDOW_MS = 30 * 86_400_000

/** How many endpoints a made-up summary names. */
const NAMED_ENDPOINTS = 4

/** The x402 discovery catalogue. Its rows come and go with payments: a missing one is not gone. */
export const x402Bazaar: SeedSource = {
  id: 'x402-bazaar',
  title: 'paid endpoints of the x402 Bazaar, one listing for each origin',
  liveUrl: `${API}/resources?limit=100`,
  promisesAll: false,
  shape: {
    lists: ['items', 'resources'],
    expected: 'a page of x402 resources or a line of JSON for each',
    isRow: (value) => typeof value.resource === 'string',
    savedAt: 'captured_utc',
  },
  choose: chooseOrigins,
}

function chooseOrigins(values: readonly unknown[], rules: MapRules): ChosenSeeds {
  const judged = values.map((value) => {
    const parsed = parseRow(BazaarRowSchema, value, 'resource')
    return 'row' in parsed ? mapEndpoint(parsed.row, rules) : parsed
  })
  const endpoints = judged.filter((each) => 'operation' in each)
  const [tools, others] = [true, false].map((isTool) =>
    endpoints.filter(({ row }) => row.isTool === isTool),
  )
  const byServer = Map.groupBy(tools ?? [], ({ operation }) => operation.url)
  const byOrigin = Map.groupBy(others ?? [], ({ origin }) => origin)
  return gatherSeeds([
    ...judged.filter((each) => 'refusal' in each),
    ...[...byOrigin].map(([origin, rows]) => mapOrigin(origin, rows, rules)),
    ...[...byServer].map(([url, rows]) => mapServerTools(url, rows, rules)),
  ])
}

/** An endpoint that can be listed, with those of its prices that can't. */
interface Endpoint {
  row: BazaarRow
  origin: string
  operation: Operation
  faults: Fault[]
  payees: string[]
}

/** One row, on its own. */
function mapEndpoint(row: BazaarRow, rules: MapRules) {
  const { resource } = row
  const address = toOperationAddress(resource, rules)
  if ('reason' in address) return refuse(resource, address)
  if (row.offers.length > 0 && row.offers.every(({ network }) => isTestNetwork(network)))
    return refuse(
      resource,
      faultOf('test_network', 'expected a main network among its ways to pay'),
    )
  const placeholder = 'expected a wallet, got a placeholder of documentation'
  if (row.offers.some(({ payTo }) => isPlaceholderWallet(payTo) || ONE_DIGIT.test(payTo ?? '')))
    return refuse(resource, faultOf('known_fake', placeholder))
  const priced = row.offers.map(toOffer)
  const offers = priced.filter((price): price is Offer => 'rail' in price)
  // A deferred scheme next to an exact one repeats its price.
  const faults = offers.length > 0 ? [] : priced.filter((price) => 'reason' in price)
  const method = toMethod(row.input.method)
  const description = toSeedLine(row.description, 300)
  const { method: _, ...input } = row.input
  const { ref } = sourceOf(URL.parse(address.url)?.host ?? address.url)
  const said = { ...input, ...(row.output !== null && { response: { ...row.output, ref } }) }
  const [plain] = withPlainWords([{ method: 'GET', url: address.url, ...said }])
  const { body, response, params = [] } = plain ?? {}
  const operation: Operation = {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    url: address.url,
    ...(description !== null && { description }),
    ...toPrice(offers),
    ...withParams([...toPathParams(address.places), ...params]),
    ...(body !== undefined && method !== 'GET' && { body }),
    ...(response !== undefined && { response }),
    ...(method === null && { assumed: ['method'] as const }),
  }
  const payees = row.offers.flatMap(({ payout }) => payout ?? [])
  return { row, origin: originOf(address.url) ?? '', operation, faults, payees }
}

/** All endpoints of one origin as one listing. */
function mapOrigin(origin: string, endpoints: readonly Endpoint[], rules: MapRules): MappedSeed {
  const { http, pricing, left } = collapseOperations(endpoints.map(({ operation }) => operation))
  const host = URL.parse(origin)?.host ?? origin
  const rows = endpoints.length
  const said = endpoints.map(({ row }) => row.description).filter((text) => text !== null)
  const dropped = endpoints.flatMap(({ row, faults }): Refusal[] =>
    faults.slice(0, 1).map((fault) => ({ ...fault, name: row.resource })),
  )
  return mapTold(
    {
      key: origin,
      prefix: 'x402',
      rows,
      names: [...endpoints.map(({ row }) => row.serviceName), host],
      said: [rows === 1 ? said[0] : null, describe(host, http)],
      tags: endpoints.flatMap(({ row }) => [...row.tags]),
      words: [...said, ...http.map(({ url }) => pathOf(url))],
      payees: toPayees(endpoints.flatMap(({ payees }) => payees)),
      facts: { ...PAID_API, url: origin, pricing, http, sources: [sourceOf(host)] },
      dropped: [...dropped, ...leftOut(origin, left)],
      ...toUse(endpoints, rules),
    },
    rules,
  )
}

/** Paid tools of one MCP server: the server is what a client connects to. */
function mapServerTools(url: string, endpoints: readonly Endpoint[], rules: MapRules): MappedSeed {
  const host = URL.parse(url)?.host ?? url
  const rows = endpoints.length
  return mapTold(
    {
      key: `mcp ${url}`,
      prefix: 'mcp',
      rows,
      names: [...endpoints.map(({ row }) => row.serviceName), host],
      said: [...endpoints.map(({ row }) => row.description), `${rows} paid tools at ${host}.`],
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

/** Calls of all its endpoints, and the payers of the one with the most: some may pay several. */
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

/** A sentence of facts, where the seller gave none. */
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

/** Wallets of sellers' tests, which a catalogue's rows name too. */
const ONE_DIGIT = /^0x([0-9a-f])\1{39}$/i

function withParams(params: NonNullable<Operation['params']>): Pick<Operation, 'params'> {
  const once = eachOnce(params, ({ in: place, name }) => `${place} ${name}`)
  return once.length === 0 ? {} : { params: once }
}
