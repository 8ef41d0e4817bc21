import * as v from 'valibot'
import { type Offer, pricingOf } from '../../src/domain/listing/offers.ts'
import { createOperationSchema, type Operation } from '../../src/domain/listing/operation.ts'
import { NetworkSchema } from '../../src/domain/listing/pricing.ts'
import type { PaymentTerm } from '../../src/domain/probe/finding.ts'
import { KIND_LABELS } from '../../src/domain/wire/vocabulary.ts'
import { renderListing } from '../content/listing-text.ts'
import { finishSeed, type MappedSeed, toSeed } from '../facts/map-rows.ts'
import type { Seed, SeedFacts } from '../facts/seed-facts.ts'
import type { MapRules } from '../facts/seed-source.ts'
import { withPlainWords } from '../facts/seed-texts.ts'
import { mapCard, parseAgentCard } from '../sources/a2a/map-agent.ts'
import type { FoundService } from './inspect-service.ts'

/** Id in `tables/sources.yaml` for listings from reports. */
const PROPOSALS_SOURCE = 'proposals'

/** Operations of a listing's first file; the rest is read once it is listed. */
const MAX_OPERATIONS = 20

/**
 * The file a service would become, by the same rules as importers' rows; null where nothing
 * readable was found and a person must write it. `remarks` are for the reviewer.
 */
export function mapFound(found: FoundService, note: string, rules: MapRules) {
  const mapped = found.kind === 'a2a_agent' ? mapFoundCard(found, rules) : null
  const seed = mapped === null ? toFoundSeed(found, note, rules) : seedOf(mapped)
  if (seed === null) return { file: null, remarks: remarksOf(mapped) }
  const text = renderListing(seed.facts, found.at.slice(0, 10))
  const remarks = remarksOf(mapped ?? finishSeed(seed))
  return { file: { path: `listings/${seed.prefix}/${seed.slug}.md`, text }, remarks }
}

function mapFoundCard(
  { seller: { card, files } }: FoundService,
  rules: MapRules,
): MappedSeed | null {
  if (card === null) return null
  const parsed = parseAgentCard(card)
  if (!('row' in parsed)) return null
  const cardUrl = parsed.row.cardUrl ?? files.agent_card ?? null
  return mapCard({ ...parsed.row, cardUrl }, rules, true)
}

function seedOf(mapped: MappedSeed): Seed | null {
  return mapped.ok ? mapped.seed : (mapped.held ?? null)
}

function remarksOf(mapped: MappedSeed | null): string[] {
  if (mapped === null || mapped.ok) return []
  const { reason, detail } = mapped.refusal
  return [`an importer would refuse it: ${reason}: ${detail}`]
}

function toFoundSeed(found: FoundService, note: string, rules: MapRules): Seed | null {
  const { url, kind, sight, seller } = found
  const { api, card, title, files } = seller
  const host = new URL(url).hostname.replace(/^www\./, '')
  const pricing = pricingOf((sight.terms ?? []).flatMap(toOffer))
  const http = kind === 'http_api' ? toOperations(api, pricing) : []
  const paidOrNot = pricing.model === 'per_call' ? 'x402' : 'api'
  const prefixes = { http_api: paidOrNot, mcp_server: 'mcp', a2a_agent: 'a2a' } as const
  const facts = {
    kind,
    url,
    ...(pricing.model !== 'unknown' && { pricing }),
    ...(http.length > 0 && { http }),
    ...(kind === 'mcp_server' && {
      invoke: [{ kind: 'mcp' as const, transport: 'streamable-http' as const, url }],
    }),
    ...(Object.keys(files).length > 0 && { discovery: files }),
    sources: [{ source: PROPOSALS_SOURCE, ref: url }],
  }
  const seed = toSeed(
    {
      key: url,
      prefix: prefixes[kind],
      names: [sight.server?.name, api?.title, textOf(card?.name), title, host],
      said: [api?.description, textOf(card?.description), note, toPlainSummary(found, host)],
      words: (sight.tools ?? []).map(({ name }) => name),
      facts,
    },
    rules,
  )
  return 'reason' in seed ? null : seed
}

/** Our own words, where the seller has none. */
function toPlainSummary({ kind, sight }: FoundService, host: string): string {
  const names = (sight.tools ?? []).slice(0, 5).map(({ name }) => name)
  const tail = kind === 'mcp_server' && names.length > 0 ? ` with ${names.join(', ')}` : ''
  return `${KIND_LABELS[kind]} at ${host}${tail}`
}

function toOffer({ rail, network, usd }: PaymentTerm): Offer[] {
  const isKnown = network === null || v.is(NetworkSchema, network)
  return usd === null || !isKnown ? [] : [{ rail, network, min_usd: usd, max_usd: usd }]
}

const operation = createOperationSchema({ allowPrivate: false })

/** A price that no rail of the 402 confirms is dropped. */
function toOperations(
  api: FoundService['seller']['api'],
  pricing: SeedFacts['pricing'],
): Operation[] {
  const read = (api?.operations ?? []).slice(0, MAX_OPERATIONS).flatMap((each) => {
    const parsed = v.safeParse(operation, each)
    return parsed.success ? [parsed.output] : []
  })
  return withPlainWords(read).map(({ price, ...rest }) => {
    const isBorne =
      price !== undefined &&
      pricing?.model === 'per_call' &&
      price.min_usd >= pricing.min_usd &&
      price.max_usd <= pricing.max_usd
    return isBorne ? { ...rest, price } : rest
  })
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : null)
