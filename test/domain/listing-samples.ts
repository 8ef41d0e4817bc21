import * as v from 'valibot'
import {
  type DerivedListing,
  deriveListing,
  NO_PAYOUTS,
} from '../../src/domain/derived/derived-listing.ts'
import type { SourceRow } from '../../src/domain/derived/tables.ts'
import { type KitView, toKitView } from '../../src/domain/kit/kit-view.ts'
import {
  createListingFactsSchema,
  type ListingFacts,
} from '../../src/domain/listing/listing-facts.ts'
import type { Pricing } from '../../src/domain/listing/pricing.ts'
import { GITHUB_ISSUER } from '../../src/domain/sellers/claim-rules.ts'
import type { TaskRow } from '../../src/domain/tasks/task.ts'
import type { Evidence, Measured, Probe } from '../../src/domain/trust/evidence.ts'
import { toTrustView } from '../../src/domain/views/trust-view.ts'

import { SHARED_HOSTS } from '../support/shared-hosts.ts'

/** What the tests of the rules are about: one seller, its facts and its evidence, to be varied. */
export const BASE_URL = 'https://directory.example'
export const PUBLIC = { allowPrivate: false }

const PER_CALL: Extract<Pricing, { model: 'per_call' }> = {
  model: 'per_call',
  min_usd: 0.01,
  max_usd: 0.05,
  rails: ['x402'],
  networks: ['eip155:8453'],
}

export const SAMPLE_FACTS = {
  name: 'Example Weather',
  kind: 'http_api',
  url: 'https://api.weather.example/now',
  summary: 'Current weather for a place.',
  categories: ['data_weather'],
  tags: ['weather'],
  pricing: PER_CALL,
  sources: [{ source: 'mcp_registry', ref: 'https://registry.example/weather' }],
  added: '2026-11-20',
}

/** Parses like a content file, so that no sample can be what no file could say. */
export function toFacts(changes: Record<string, unknown> = {}, rules = PUBLIC): ListingFacts {
  return v.parse(createListingFactsSchema(rules), { ...SAMPLE_FACTS, ...changes })
}

/** @returns the messages of a parse, with the path before each; empty when it is fine. */
export function findFactFaults(changes: Record<string, unknown>): string[] {
  const schema = createListingFactsSchema(PUBLIC)
  return findFaults(schema, { ...SAMPLE_FACTS, ...changes })
}

export function findFaults(schema: v.GenericSchema, input: unknown): string[] {
  const { issues = [] } = v.safeParse(schema, input)
  return issues.map((issue) => `${v.getDotPath(issue) ?? ''}: ${issue.message}`)
}

export function toMeasured(changes: Partial<Measured> = {}): Measured {
  return {
    source: 'x402-list',
    as_of: '2026-11-01T00:00:00Z',
    verified_buyers_30d: 12,
    settlements_30d: 340,
    volume_usd_30d: 12.5,
    top_buyer_share_30d: 0.4,
    last_settlement_at: '2026-10-31T21:00:00Z',
    shared_payout: false,
    wash_flags: [],
    watch: [],
    ...changes,
  }
}

/** Probes that all spoke, at these times. */
export function toProbes(...times: string[]): Probe[] {
  return times.map((at) => ({ at, protocol: 'x402', outcome: 'spoke' }))
}

/** Three good probes over two days. */
export const LIVE_PROBES = toProbes(
  '2026-10-29T00:00:00Z',
  '2026-10-30T00:00:00Z',
  '2026-10-31T00:00:00Z',
)

interface Sample {
  id?: string
  facts?: Record<string, unknown>
  description?: string
  evidence?: Evidence
  ownMeasured?: Measured
  isClaimed?: boolean
  sharers?: number
  rules?: typeof PUBLIC
  tasks?: readonly TaskRow[]
}

export function toListing({ rules = PUBLIC, ...sample }: Sample = {}): DerivedListing {
  return deriveListing(
    {
      id: sample.id ?? 'x402.example-weather',
      facts: toFacts(sample.facts, rules),
      description: sample.description ?? '',
      evidence: sample.evidence ?? {},
      own: sample.ownMeasured && { measured: sample.ownMeasured, sharers: sample.sharers ?? 1 },
      isClaimed: sample.isClaimed ?? false,
      payouts: { ...NO_PAYOUTS, sharers: sample.sharers ?? 1 },
    },
    {
      rules,
      baseUrl: BASE_URL,
      directory: 'Waypost',
      asOf: '2026-11-01',
      tasks: sample.tasks ?? [],
    },
  )
}

/** Its kit, as a build makes it. */
export function toKit(listing: DerivedListing): KitView {
  return toKitView(listing, { baseUrl: BASE_URL, trust: toTrustView(listing.trust, '') })
}

/** A listing whose trust score is far from the others: more buyers, more trust. */
export function toSold(id: string, buyers: number, facts: Record<string, unknown> = {}) {
  return toListing({
    id,
    facts,
    evidence: { measured: toMeasured({ verified_buyers_30d: buyers }) },
  })
}

const SOURCE_ROW: SourceRow = {
  id: 'mcp_registry',
  name: 'MCP Registry',
  url: 'https://registry.example',
  license: 'MIT',
  attribution: '',
  decision: 'used',
  reason: 'Open data.',
}

export const SOURCES = new Map<string, SourceRow>([
  ['mcp_registry', SOURCE_ROW],
  [
    'x402-list',
    { ...SOURCE_ROW, id: 'x402-list', name: 'X402 List', attribution: 'Data by X402 List (CC BY)' },
  ],
])

export const VIEW_CONTEXT = {
  baseUrl: BASE_URL,
  sources: SOURCES,
  claimRules: { ...PUBLIC, sharedHosts: SHARED_HOSTS, issuer: GITHUB_ISSUER },
}
