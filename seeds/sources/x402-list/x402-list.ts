import * as v from 'valibot'
import { toCaip2 } from '../../../src/domain/settlement/usd-assets.ts'
import { isJsonObject } from '../../../src/domain/wire/parse-json.ts'
import { isTestNetwork } from '../../facts/assets.ts'
import { findCallableUrlFault } from '../../facts/callable-url.ts'
import { finishSeed, type MappedSeed } from '../../facts/finish-seed.ts'
import { gatherSeeds } from '../../facts/gather-seeds.ts'
import { originOf } from '../../facts/listing-marks.ts'
import { MAX_CALL_USD, type Offer, pricingOf } from '../../facts/price.ts'
import type { Refusal } from '../../facts/refusal.ts'
import type { MapRules, SeedSource } from '../../facts/seed-source.ts'
import { toSeedTexts } from '../../facts/seed-texts.ts'
import { nextByNumber } from '../../fetch/next-page.ts'
import { parseRows, type RowShape } from '../../fetch/parse-rows.ts'
import { addressSlug } from '../../text/address-slug.ts'
import { guessCategories } from '../../text/guess-categories.ts'
import { AssessmentSchema, toEvidence } from './map-measured.ts'

const API = 'https://x402-list.com/api/v1/services'
const SOURCE = 'x402-list'

const text = v.optional(v.nullable(v.pipe(v.string(), v.maxLength(20_000))))
const number = v.optional(v.nullable(v.number()))

const ServiceSchema = v.object({
  slug: v.pipe(v.string('expected text'), v.regex(/^[\w.-]{1,120}$/, 'expected a slug')),
  name: text,
  description: text,
  base_url: v.string('expected the address of a service'),
  category: text,
  status: text,
  verified: v.optional(v.nullable(v.boolean())),
  endpoint_count: number,
  min_price_usd: number,
  networks_caip2: v.optional(v.nullable(v.array(v.string()))),
  networks: v.optional(v.nullable(v.array(v.string()))),
  uptime_24h: number,
  last_checked_at: text,
  created_at: text,
  assessment: v.optional(v.nullable(AssessmentSchema)),
})
type Service = v.InferOutput<typeof ServiceSchema>

const SHAPE: RowShape = {
  lists: ['data'],
  expected: 'a page of x402-list services',
  isRow: (value) => typeof value.slug === 'string',
}

/** Services with what was measured of them: listings, and the evidence behind a trust score. */
export const x402List: SeedSource = {
  id: 'x402-list',
  title: 'services of x402-list.com with their measurements (CC BY 4.0)',
  liveUrl: `${API}?per_page=100&page=1`,
  promisesAll: true,
  sourceIds: [SOURCE],
  parse(body, address) {
    const { values, refused, page } = parseRows(body, SHAPE)
    return { values, refused, next: nextByNumber(address, page, values.length) }
  },
  choose(values, rules) {
    const refused: Refusal[] = []
    const mapped = values.flatMap((value) => {
      const parsed = v.safeParse(ServiceSchema, value)
      if (parsed.success) return [mapService(parsed.output, rules)]
      const [issue] = parsed.issues
      const slug = isJsonObject(value) ? String(value.slug ?? '(no slug)') : '(no slug)'
      const detail = `${v.getDotPath(issue) ?? 'row'}: ${issue.message}`
      refused.push({ reason: 'invalid_row', name: slug.slice(0, 250), detail })
      return []
    })
    return gatherSeeds(mapped, refused)
  },
}

function mapService(service: Service, rules: MapRules): MappedSeed {
  const { slug: name } = service
  const refuse = (fault: Pick<Refusal, 'reason' | 'detail'>): MappedSeed => ({
    ok: false,
    refusal: { ...fault, name },
  })
  const fault = findCallableUrlFault(service.base_url, rules)
  if (fault !== null) return refuse(fault)
  const networks = networksOf(service)
  if (networks.length > 0 && networks.every(isTestNetwork))
    return refuse({ reason: 'test_network', detail: 'expected a main network' })
  const host = URL.parse(service.base_url)?.host ?? ''
  const texts = toSeedTexts([service.name, host], [service.description, `Paid API at ${host}.`])
  if ('reason' in texts) return refuse(texts)
  const { offers, dropped } = toOffers(service, networks)
  const words = `${texts.description} ${service.category ?? ''}`
  return finishSeed(
    {
      key: name,
      prefix: 'x402',
      slug: addressSlug(originOf(service.base_url) ?? service.base_url),
      published: /^\d{4}-\d\d-\d\d/.exec(service.created_at ?? '')?.[0] ?? null,
      rows: 1,
      evidence: toEvidence(service, rules.now),
      facts: {
        name: texts.name,
        kind: 'http_api',
        url: service.base_url,
        summary: texts.summary,
        categories: guessCategories(texts.name, words, rules.categories),
        pricing: pricingOf(offers),
        cost: 'paid',
        auth: { type: 'payment' },
        sources: [{ source: SOURCE, ref: `${API}/${encodeURIComponent(name)}` }],
      },
      suspicious: texts.suspicious,
    },
    dropped,
  )
}

function networksOf({ networks_caip2, networks }: Service): string[] {
  const named = networks_caip2 ?? networks ?? []
  return [...new Set(named.flatMap((network) => toCaip2(network) ?? []))]
}

function toOffers(service: Service, networks: string[]): { offers: Offer[]; dropped: Refusal[] } {
  const { min_price_usd, assessment, slug: name } = service
  const min = min_price_usd ?? assessment?.price_usd
  const max = assessment?.price_max_usd ?? min
  if (typeof min !== 'number' || typeof max !== 'number' || min < 0 || max < min)
    return { offers: [], dropped: [] }
  if (max > MAX_CALL_USD) {
    const detail = `$${max} a call; expected at most $${MAX_CALL_USD}`
    return { offers: [], dropped: [{ reason: 'price_too_high', name, detail }] }
  }
  const main = networks.filter((network) => !isTestNetwork(network))
  const places = main.length === 0 ? [null] : main
  return {
    offers: places.map((network) => ({ rail: 'x402', network, min_usd: min, max_usd: max })),
    dropped: [],
  }
}
