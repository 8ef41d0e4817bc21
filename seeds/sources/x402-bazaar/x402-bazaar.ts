import { isJsonObject } from '../../../src/domain/wire/parse-json.ts'
import { finishSeed, type MappedSeed } from '../../facts/finish-seed.ts'
import { gatherSeeds } from '../../facts/gather-seeds.ts'
import { pricingOf } from '../../facts/price.ts'
import type { Refusal } from '../../facts/refusal.ts'
import type { Seed } from '../../facts/seed-facts.ts'
import type { ChosenSeeds, MapRules, SeedSource } from '../../facts/seed-source.ts'
import { toSeedTexts } from '../../facts/seed-texts.ts'
import { nextByCursor, nextByOffset } from '../../fetch/next-page.ts'
import { parseRows, type RowShape } from '../../fetch/parse-rows.ts'
import { addressSlug } from '../../text/address-slug.ts'
import { guessCategories } from '../../text/guess-categories.ts'
import { parseBazaarRow } from './bazaar-row.ts'
import {
  BAZAAR_SOURCE,
  BAZAAR_URL,
  type BazaarEndpoint,
  mapEndpoint,
  mapOrigin,
} from './map-origin.ts'

const SHAPE: RowShape = {
  lists: ['items', 'resources'],
  expected: 'a page of x402 resources or a line of JSON for each',
  isRow: (value) => typeof value.resource === 'string',
}

/** The x402 discovery catalogue. Its rows come and go with payments: what is missing is not gone. */
export const x402Bazaar: SeedSource = {
  id: 'x402-bazaar',
  title: 'paid endpoints of the x402 Bazaar, one listing for each origin',
  liveUrl: `${BAZAAR_URL}/resources?limit=100`,
  promisesAll: false,
  sourceIds: [BAZAAR_SOURCE],
  parse(text, address) {
    const { values, refused, page } = parseRows(text, SHAPE)
    const pagination = isJsonObject(page?.pagination) ? page.pagination : {}
    const next =
      nextByCursor(address, pagination.cursor) ?? nextByOffset(address, page, values.length)
    return { values, refused, next }
  },
  choose: chooseOrigins,
}

function chooseOrigins(values: readonly unknown[], rules: MapRules): ChosenSeeds {
  const refused: Refusal[] = []
  const byOrigin = new Map<string, BazaarEndpoint[]>()
  const tools: BazaarEndpoint[] = []
  for (const value of values) {
    const row = parseBazaarRow(value)
    if ('detail' in row) {
      refused.push({ reason: 'invalid_row', ...row })
      continue
    }
    const endpoint = mapEndpoint(row, rules)
    if ('reason' in endpoint) refused.push({ ...endpoint, name: row.resource })
    else if (row.isTool) tools.push(endpoint)
    else byOrigin.set(endpoint.origin, [...(byOrigin.get(endpoint.origin) ?? []), endpoint])
  }
  const byServer = Map.groupBy(tools, ({ operation }) => operation.url)
  return gatherSeeds(
    [
      ...[...byOrigin.values()].map((endpoints) => mapOrigin(endpoints, rules)),
      ...[...byServer.values()].map((endpoints) => mapServerTools(endpoints, rules)),
    ],
    refused,
  )
}

/** Paid tools of one MCP server: the server is what a client connects to. */
function mapServerTools(endpoints: readonly BazaarEndpoint[], rules: MapRules): MappedSeed {
  const [first] = endpoints
  if (first === undefined) throw new Error('expected at least one tool')
  const { url } = first.operation
  const host = URL.parse(url)?.host ?? url
  const rows = endpoints.length
  const texts = toSeedTexts(
    [...endpoints.map(({ row }) => row.serviceName), host],
    [...endpoints.map(({ row }) => row.description), `${rows} paid tools at ${host}.`],
  )
  if ('reason' in texts) return { ok: false, refusal: { ...texts, name: url, rows } }
  const offers = endpoints.flatMap(({ operation }) =>
    (operation.offers ?? []).map((offer) => ({ ...offer, network: offer.network ?? null })),
  )
  const seed: Seed = {
    key: `mcp ${url}`,
    prefix: 'mcp',
    slug: addressSlug(url),
    published: null,
    rows,
    facts: {
      name: texts.name,
      kind: 'mcp_server',
      url,
      summary: texts.summary,
      categories: guessCategories(texts.name, texts.description, rules.categories),
      pricing: pricingOf(offers),
      cost: 'paid',
      invoke: [{ kind: 'mcp', transport: 'streamable-http', url }],
      sources: [
        { source: BAZAAR_SOURCE, ref: `${BAZAAR_URL}/search?query=${encodeURIComponent(host)}` },
      ],
    },
    suspicious: texts.suspicious,
  }
  return finishSeed(seed, [])
}
