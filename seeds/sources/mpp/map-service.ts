import type { ListingFacts } from '../../../src/domain/listing/listing-facts.ts'
import type { Operation } from '../../../src/domain/listing/operation.ts'
import { largestOf, smallestOf } from '../../../src/domain/wire/extremes.ts'
import { decimalsOf } from '../../facts/assets.ts'
import { findCallableUrlFault } from '../../facts/callable-url.ts'
import { finishSeed, type MappedSeed } from '../../facts/finish-seed.ts'
import {
  type CollapsedOperations,
  collapseOperations,
  toMethod,
  toOperationAddress,
  toPathParams,
  toPrice,
} from '../../facts/operations.ts'
import { MAX_CALL_USD, type Offer, type PriceFault, priceAtomic } from '../../facts/price.ts'
import type { Refusal } from '../../facts/refusal.ts'
import type { SeedFacts } from '../../facts/seed-facts.ts'
import type { MapRules } from '../../facts/seed-source.ts'
import { type SeedTexts, toSeedLine, toSeedTags, toSeedTexts } from '../../facts/seed-texts.ts'
import { addressSlug } from '../../text/address-slug.ts'
import { guessCategories } from '../../text/guess-categories.ts'
import { type MppEndpoint, type MppService, parseMppEndpoint } from './mpp-row.ts'

export const MPP_SOURCE = 'mpp_services'
const CATALOGUE = 'https://github.com/tempoxyz/mpp/blob/main/schemas/services.ts'
const TEMPO = 'eip155:4217'

export function mapService(service: MppService, rules: MapRules): MappedSeed {
  const { id } = service
  const refuse = (fault: Pick<Refusal, 'reason' | 'detail'>): MappedSeed => ({
    ok: false,
    refusal: { ...fault, name: id },
  })
  if (service.status === 'deprecated' || service.status === 'inactive')
    return refuse({ reason: 'deprecated', detail: `expected status active, got ${service.status}` })
  const url = service.serviceUrl.replace(/\/+$/, '')
  const fault = findCallableUrlFault(url, rules)
  if (fault !== null) return refuse(fault)
  const texts = toSeedTexts([service.name], [service.description])
  if ('reason' in texts) return refuse(texts)
  const dropped: Refusal[] = []
  const operations = service.endpoints.flatMap((value, at) => {
    const operation = mapEndpoint(value, at, service, { url, rules, dropped })
    return operation === null ? [] : [operation]
  })
  if (operations.length === 0)
    return refuse({
      reason: 'no_invoke',
      detail: 'expected at least one endpoint that can be called',
    })
  const { http, pricing, left } = collapseOperations(operations)
  if (left > 0)
    dropped.push({
      reason: 'row_too_large',
      name: id,
      detail: `${left} operations beyond those listed`,
    })
  return finishSeed(
    {
      key: id,
      prefix: 'x402',
      slug: addressSlug(url),
      published: null,
      rows: 1,
      facts: toFacts(service, { url, texts, rules, http, pricing }),
      suspicious: texts.suspicious,
    },
    dropped,
  )
}

interface Mapped extends Pick<CollapsedOperations, 'http' | 'pricing'> {
  url: string
  texts: SeedTexts
  rules: MapRules
}

function toFacts(service: MppService, { url, texts, rules, http, pricing }: Mapped): SeedFacts {
  const tags = toSeedTags([...(service.tags ?? []), ...(service.categories ?? [])])
  const words = `${texts.description} ${tags.join(' ')}`
  const discovery = discoveryOf(service, rules)
  return {
    name: texts.name,
    kind: 'http_api',
    url,
    summary: texts.summary,
    categories: guessCategories(texts.name, words, rules.categories),
    ...(tags.length === 0 ? {} : { tags }),
    pricing,
    cost: 'paid',
    auth: { type: 'payment' },
    http,
    ...(Object.keys(discovery).length === 0 ? {} : { discovery }),
    sources: [{ source: MPP_SOURCE, ref: `${CATALOGUE}#${service.id}` }],
  }
}

interface Place {
  url: string
  rules: MapRules
  dropped: Refusal[]
}

function mapEndpoint(
  value: unknown,
  at: number,
  service: MppService,
  { url, rules, dropped }: Place,
): Operation | null {
  const endpoint = parseMppEndpoint(value, service)
  const name = `${service.id} ${endpoint === null ? `endpoint ${at + 1}` : `${endpoint.method} ${endpoint.path}`}`
  const method = toMethod(endpoint?.method)
  if (endpoint === null || method === null) {
    dropped.push({ reason: 'invalid_row', name, detail: 'expected a method and a path' })
    return null
  }
  const address = toOperationAddress(url + endpoint.path, rules)
  if ('reason' in address) {
    dropped.push({ ...address, name })
    return null
  }
  const price = priceEndpoint(endpoint)
  if (price !== null && 'reason' in price) dropped.push({ ...price, name })
  const description = toSeedLine(endpoint.description, 300)
  const params = toPathParams(address.places)
  return {
    method,
    url: address.url,
    ...(description === null ? {} : { description }),
    ...(price === null || 'reason' in price ? {} : price),
    ...(params.length === 0 ? {} : { params }),
  }
}

/** @returns null where an endpoint names no price */
function priceEndpoint(
  endpoint: MppEndpoint,
): Pick<Operation, 'price' | 'offers'> | PriceFault | null {
  const place = { rail: 'mpp' as const, network: endpoint.rail === 'tempo' ? TEMPO : null }
  if (endpoint.amount === null) {
    const hint = readHint(endpoint.hint)
    return hint === null ? null : toPrice([{ ...place, ...hint.bounds }], hint.per)
  }
  if (!isDollar(endpoint))
    return {
      reason: 'unknown_asset',
      detail: `expected a dollar coin whose decimals are known, got ${JSON.stringify(endpoint.currency.slice(0, 80))}`,
    }
  const usd = priceAtomic(endpoint.amount, endpoint.decimals)
  if (typeof usd !== 'number') return usd
  const isCall =
    endpoint.unit === 'request' || endpoint.unit === 'url' || endpoint.unit === 'record'
  return toPrice([{ ...place, min_usd: usd, max_usd: usd }], isCall ? 'call' : 'other')
}

function isDollar({ rail, currency, decimals }: MppEndpoint): boolean {
  return rail === 'tempo'
    ? decimalsOf(TEMPO, currency) === decimals
    : currency.toLowerCase() === 'usd' && decimals === 2
}

/**
 * A price in words, where both ends are said: "$0.01 – $2.00" and "$0.006" are bounds, "$0.04+" and
 * "$0.12/hr" are not what a call costs at most.
 */
function readHint(
  hint: string,
): { bounds: Pick<Offer, 'min_usd' | 'max_usd'>; per: 'call' | 'other' } | null {
  const amounts = [...hint.matchAll(/\$(\d{1,6}(?:\.\d{1,8})?)/g)].map(([, text]) => Number(text))
  if (amounts.length === 0 || /\+/.test(hint)) return null
  const bounds = { min_usd: smallestOf(amounts), max_usd: largestOf(amounts) }
  if (bounds.max_usd > MAX_CALL_USD) return null
  const isMetered = /\/(?!request\b)\w+|\bper (?!request\b)\w+/.test(hint)
  return { bounds, per: isMetered ? 'other' : 'call' }
}

function discoveryOf({ docs }: MppService, rules: MapRules): ListingFacts['discovery'] {
  const fine = (value: unknown): value is string =>
    typeof value === 'string' && findCallableUrlFault(value, rules) === null
  const openapi = [docs?.openapi, docs?.apiReference].find(
    (value) => fine(value) && /\/openapi\.json$/.test(value),
  )
  return {
    ...(fine(openapi) ? { openapi } : {}),
    ...(fine(docs?.llmsTxt) ? { llms_txt: docs.llmsTxt } : {}),
  }
}
