import * as v from 'valibot'
import { isTestNetwork } from '../../src/domain/listing/networks.ts'
import { offersOf, pricingOf } from '../../src/domain/listing/operation.ts'
import { originOf } from '../../src/domain/sources/join-rows.ts'
import { MAX_CALL_USD, readPaymentInfo } from '../../src/domain/sources/payment-info.ts'
import { MeasuredSchema, SignalsSchema } from '../../src/domain/trust/evidence.ts'
import { toCaip2 } from '../../src/domain/trust/usd-assets.ts'
import {
  addressSlug,
  chooseRows,
  faultOf,
  findCallableUrlFault,
  foreignNumbers,
  foreignTexts,
  type Mapped,
  type MapRules,
  mapReported,
  optionalFlag,
  PAID_API,
  type Refusal,
  refuse,
  type SeedEvidence,
  toInstant,
} from '../facts/map-rows.ts'
import type { SeedSource } from '../fetch/read-source.ts'

const API = 'https://x402-list.com/api/v1/services'
const SOURCE = 'x402-list'

/** What the provider measured about a service; null means "not measured", which is not zero. */
const TractionSchema = v.object({
  ...foreignTexts('status', 'last_settlement_at'),
  ...foreignNumbers('volume_usd_30d', 'tx_count_30d', 'unique_buyers_30d', 'top_buyer_share_30d'),
  shared_payout: optionalFlag,
})

const AssessmentSchema = v.object({
  ...foreignTexts('compliance_grade', 'risk_level'),
  ...foreignNumbers('reliability_uptime_30d', 'response_p95_ms', 'price_usd', 'price_max_usd'),
  traction: v.nullish(TractionSchema),
})

const ServiceSchema = v.object({
  slug: v.pipe(v.string('expected text'), v.regex(/^[\w.-]{1,120}$/, 'expected a slug')),
  base_url: v.string('expected the address of a service'),
  ...foreignTexts('name', 'description', 'category', 'status', 'last_checked_at', 'created_at'),
  ...foreignNumbers('endpoint_count', 'min_price_usd', 'uptime_24h'),
  verified: optionalFlag,
  networks_caip2: v.nullish(v.array(v.string())),
  networks: v.nullish(v.array(v.string())),
  assessment: v.nullish(AssessmentSchema),
})
type Service = v.InferOutput<typeof ServiceSchema>

function mapService(service: Service, rules: MapRules): Mapped {
  const { slug: name, base_url: url } = service
  const fault = findCallableUrlFault(url, rules)
  if (fault !== null) return refuse(name, fault)
  const networks = networksOf(service)
  if (networks.length > 0 && networks.every(isTestNetwork))
    return refuse(name, faultOf('test_network', 'expected a main network'))
  const host = URL.parse(url)?.host ?? ''
  const { pricing, dropped } = toPrices(service, networks)
  return mapReported(
    {
      key: name,
      prefix: 'x402',
      slug: addressSlug(originOf(url) ?? url),
      published: /^\d{4}-\d\d-\d\d/.exec(service.created_at ?? '')?.[0],
      names: [service.name, host],
      stated: [service.description, `Paid API at ${host}.`],
      words: [service.category],
      facts: {
        ...PAID_API,
        url,
        pricing,
        sources: [{ source: SOURCE, ref: `${API}/${encodeURIComponent(name)}` }],
      },
      evidence: toEvidence(service, rules.now),
      dropped,
    },
    rules,
  )
}

function networksOf({ networks_caip2, networks }: Service): string[] {
  const named = networks_caip2 ?? networks ?? []
  return [...new Set(named.flatMap((network) => toCaip2(network) ?? []))]
}

/** The lowest and highest price, the same on every main network that the service names. */
function toPrices(service: Service, networks: string[]) {
  const { min_price_usd, assessment, slug: name } = service
  const minPrice = min_price_usd ?? assessment?.price_usd
  const maxPrice = assessment?.price_max_usd ?? minPrice
  const stated = readPaymentInfo({ protocols: ['x402'], networks, minPrice, maxPrice })
  const isHigh = typeof maxPrice === 'number' && maxPrice > MAX_CALL_USD
  const detail = `$${maxPrice} a call; expected at most $${MAX_CALL_USD}`
  const dropped: Refusal[] = isHigh ? [{ reason: 'price_too_high', name, detail }] : []
  return { pricing: pricingOf(offersOf([stated])), dropped }
}

/** Evidence members, each only if the provider has a plausible value. */
function toEvidence(row: Service, now: string): SeedEvidence {
  const measured = toMeasured(row, now)
  const signals = toSignals(row)
  return {
    ...(measured !== null && { measured }),
    ...(Object.keys(signals).length > 0 && { signals }),
  }
}

function toMeasured({ assessment, last_checked_at }: Service, now: string) {
  const traction = assessment?.traction
  if (traction?.status !== 'measured') return null
  const checked = toInstant(last_checked_at)
  const last = toInstant(traction.last_settlement_at)
  const measured = {
    source: 'x402-list',
    // The window can't end before the last payment in it.
    as_of: [checked ?? now, last ?? ''].sort().at(-1),
    verified_buyers_30d: traction.unique_buyers_30d,
    settlements_30d: traction.tx_count_30d,
    volume_usd_30d: traction.volume_usd_30d,
    top_buyer_share_30d: traction.top_buyer_share_30d ?? 0,
    last_settlement_at: last,
    shared_payout: traction.shared_payout ?? false,
    wash_flags: [],
    watch: [],
  }
  return v.is(MeasuredSchema, measured) ? measured : null
}

function toSignals({ assessment, ...row }: Service): Record<string, unknown> {
  const p95 = assessment?.response_p95_ms
  const entry: Record<string, unknown> = {
    status: row.status,
    verified: row.verified,
    uptime_24h: row.uptime_24h,
    uptime_30d: assessment?.reliability_uptime_30d,
    p95_ms: p95 && Math.round(p95),
    compliance_grade: assessment?.compliance_grade,
    risk_level: assessment?.risk_level,
    endpoint_count: row.endpoint_count,
  }
  const isStated = ([name, value]: [string, unknown]) =>
    value !== null && value !== undefined && v.is(SignalsSchema, { [name]: value })
  return Object.fromEntries(Object.entries(entry).filter(isStated))
}

export const x402List: SeedSource = {
  id: 'x402-list',
  title: 'services of x402-list.com with their measurements (CC BY 4.0)',
  liveUrl: `${API}?per_page=100&page=1`,
  promisesAll: true,
  lists: ['data'],
  expected: 'a page of x402-list services',
  isRow: (value) => typeof value.slug === 'string',
  choose: chooseRows(ServiceSchema, 'slug', mapService),
}
