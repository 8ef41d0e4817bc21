import type { Operation } from '../../../src/domain/listing/operation.ts'
import { isTestNetwork } from '../../facts/assets.ts'
import type { UrlFault } from '../../facts/callable-url.ts'
import { finishSeed, type MappedSeed } from '../../facts/finish-seed.ts'
import { originOf } from '../../facts/listing-marks.ts'
import {
  type CollapsedOperations,
  collapseOperations,
  toMethod,
  toOperationAddress,
  toPathParams,
  toPrice,
} from '../../facts/operations.ts'
import { type Offer, priceAccept } from '../../facts/price.ts'
import type { Refusal } from '../../facts/refusal.ts'
import type { Seed, SeedFacts } from '../../facts/seed-facts.ts'
import type { MapRules } from '../../facts/seed-source.ts'
import { type SeedTexts, toSeedLine, toSeedTags, toSeedTexts } from '../../facts/seed-texts.ts'
import { addressSlug } from '../../text/address-slug.ts'
import { guessCategories } from '../../text/guess-categories.ts'
import { type BazaarRow, shapeOf } from './bazaar-row.ts'

export const BAZAAR_URL = 'https://api.cdp.coinbase.com/platform/v2/x402/discovery'
export const BAZAAR_SOURCE = 'cdp_bazaar'

/** How many endpoints a made-up summary names. */
const NAMED_ENDPOINTS = 4

/** An endpoint that can be listed, with what of its prices can't. */
export interface BazaarEndpoint {
  row: BazaarRow
  origin: string
  operation: Operation
  faults: UrlFault[]
  wallets: string[]
}

/** One row, judged by itself. */
export function mapEndpoint(row: BazaarRow, rules: MapRules): BazaarEndpoint | UrlFault {
  const address = toOperationAddress(row.resource, rules)
  if ('reason' in address) return address
  if (row.accepts.length > 0 && row.accepts.every(({ network }) => isTestNetwork(network)))
    return { reason: 'test_network', detail: 'expected a main network among its ways to pay' }
  if (row.accepts.some(({ payTo }) => isPlaceholderWallet(payTo)))
    return { reason: 'known_fake', detail: 'expected a wallet, got a placeholder of documentation' }
  const priced = row.accepts.map(priceAccept)
  const offers = priced.filter((price): price is Offer => 'rail' in price)
  // A deferred scheme beside an exact one says the same price again.
  const faults = offers.length > 0 ? [] : priced.filter((price) => 'reason' in price)
  const method = toMethod(row.input.method)
  const shape = shapeOf(row.input)
  const description = toSeedLine(row.description, 300)
  const { body, params = [] } = shape
  const operation: Operation = {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    url: address.url,
    ...(description === null ? {} : { description }),
    ...toPrice(offers),
    ...withParams([...toPathParams(address.places), ...params]),
    ...(body === undefined || method === 'GET' ? {} : { body }),
    ...(method === null ? { assumed: ['method'] } : {}),
  }
  const wallets = row.accepts.flatMap(({ payTo }) => (payTo ? [payTo] : []))
  return { row, origin: originOf(address.url) ?? '', operation, faults, wallets }
}

/** All endpoints of one origin as the one thing a buyer chooses. */
export function mapOrigin(endpoints: readonly BazaarEndpoint[], rules: MapRules): MappedSeed {
  const [first] = endpoints
  if (first === undefined) throw new Error('expected at least one endpoint')
  const { origin } = first
  const collapsed = collapseOperations(endpoints.map(({ operation }) => operation))
  const host = URL.parse(origin)?.host ?? origin
  const rows = endpoints.length
  const said = endpoints.map(({ row }) => row.description).filter((text) => text !== null)
  const texts = toSeedTexts(
    [...endpoints.map(({ row }) => row.serviceName), host],
    [rows === 1 ? said[0] : null, describe(host, collapsed.http)],
  )
  if ('reason' in texts) return { ok: false, refusal: { ...texts, name: origin, rows } }
  const seed: Seed = {
    key: origin,
    prefix: 'x402',
    slug: addressSlug(origin),
    published: null,
    rows,
    wallets: [...new Set(endpoints.flatMap(({ wallets }) => wallets))],
    facts: toFacts(endpoints, { origin, host, texts, said, rules, ...collapsed }),
    suspicious: texts.suspicious,
  }
  return finishSeed(seed, toDropped(endpoints, origin, collapsed.left))
}

interface Mapped extends CollapsedOperations {
  origin: string
  host: string
  texts: SeedTexts
  said: readonly string[]
  rules: MapRules
}

function toFacts(
  endpoints: readonly BazaarEndpoint[],
  { origin, host, texts, said, rules, http, pricing }: Mapped,
): SeedFacts {
  const tags = toSeedTags(endpoints.flatMap(({ row }) => [...row.tags]))
  const paths = http.map(({ url }) => pathOf(url))
  const words = [texts.description, ...tags, ...said, ...paths].join(' ')
  const ref = `${BAZAAR_URL}/search?query=${encodeURIComponent(host)}`
  return {
    name: texts.name,
    kind: 'http_api',
    url: origin,
    summary: texts.summary,
    categories: guessCategories(texts.name, words, rules.categories),
    ...(tags.length === 0 ? {} : { tags }),
    pricing,
    cost: 'paid',
    auth: { type: 'payment' },
    http,
    sources: [{ source: BAZAAR_SOURCE, ref }],
  }
}

function toDropped(endpoints: readonly BazaarEndpoint[], name: string, left: number): Refusal[] {
  const faults = endpoints.flatMap(({ row, faults: found }) =>
    found.slice(0, 1).map(({ reason, detail }) => ({ reason, name: row.resource, detail })),
  )
  return left === 0
    ? faults
    : [
        ...faults,
        { reason: 'row_too_large', name, detail: `${left} operations beyond those listed` },
      ]
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

/** Examples use zero, burn and counted-up addresses; nobody is paid there. */
function isPlaceholderWallet(wallet: string | null | undefined): boolean {
  return /^0x(?:0{38,40}.{0,2}|0{36}dead|(?:1234567890){4}|(?:([0-9a-f])\1{39}))$/i.test(
    wallet ?? '',
  )
}

function withParams(params: NonNullable<Operation['params']>): Pick<Operation, 'params'> {
  const names = new Set<string>()
  const once = params.filter(({ in: place, name }) => {
    const key = `${place} ${name}`
    return names.has(key) ? false : names.add(key)
  })
  return once.length === 0 ? {} : { params: once }
}
