import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { CompactKitSchema, toCompactKit } from '../../src/domain/kit/found-operations.ts'
import { type KitView, toKitView } from '../../src/domain/kit/kit-view.ts'
import { toKitCard, toListingCard } from '../../src/domain/protocols/cards.ts'
import { withoutListed } from '../../src/domain/sellers/not-listed.ts'
import { toListingView } from '../../src/domain/views/listing-view.ts'
import { toTrustView } from '../../src/domain/views/trust-view.ts'
import { catalogue, content, contentFaults as faults } from '../support/own-catalogue.ts'

/** The product's own listings, as they are served: can an agent call them? */
const kits = new Map(
  catalogue.listings.map((listing) => [
    listing.id,
    toKitView(listing, {
      baseUrl: catalogue.baseUrl,
      trust: toTrustView(listing.trust, ''),
    }),
  ]),
)
const http = [...kits.values()].filter(({ kind }) => kind === 'http_api')

function kitOf(id: string): KitView {
  const kit = kits.get(id)
  if (kit === undefined) throw new Error(`${id} is not in the content`)
  return kit
}

test('no host that the table of hosts without a listing names has one', () => {
  const rows = content.tables.notListed
  expect(rows.flatMap(({ hosts }) => hosts).length).toBeGreaterThan(100)
  expect(withoutListed(rows, catalogue.listings)).toEqual(rows)
})

test('nothing of the content is warned about', () => {
  expect(faults).toEqual([])
})

test('an operation that only asks how far a job is does no task', () => {
  const polls = catalogue.listings.flatMap(({ id, surface }) =>
    surface.operations
      .filter(({ task, body }) => {
        const { required } = body?.schema ?? {}
        return task !== undefined && /^(?:jobId|taskId)$/.test(String(required))
      })
      .map(({ method, url }) => `${id} ${method} ${url}`),
  )
  expect(polls).toEqual([])
})

/** Also of an address with places to fill in. */
function hostOf(url: string): string {
  return url.split('/')[2] ?? ''
}

function isEmpty(body: unknown): boolean {
  return JSON.stringify(body) === '{}'
}

describe('what an agent reads of one listing', () => {
  const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
  const listingCards = catalogue.listings.map((listing) =>
    toListingCard(toListingView(listing, catalogue)),
  )
  const kitCards = [...kits.values()].map((kit) => toKitCard(kit, {}))

  test('is at most 3 KB, whatever the seller has, and says what was left out', () => {
    const large = [...listingCards, ...kitCards].filter((card) => bytes(card) > 3072)
    expect(large).toEqual([])
    const cut = listingCards.filter(({ left_out }) => left_out !== undefined)
    expect(cut.length).toBeGreaterThan(0)
    for (const { id, operations, left_out } of cut) {
      const whole = kitOf(id).operations.length
      const missing = Object.entries(Object(left_out)).find(([name]) => name === 'operations')?.[1]
      expect([id, Object(operations ?? []).length + Number(missing ?? 0)]).toEqual([id, whole])
    }
  })

  test('in the compact kit is at most 800 bytes in the median, and names the same listing', () => {
    const compact = [...kits.values()].map((kit) => ({ kit, view: toCompactKit(kit, {}) }))
    const sizes = compact.map(({ view }) => bytes(view)).sort((a, b) => a - b)
    expect(sizes[Math.floor(sizes.length / 2)]).toBeLessThanOrEqual(800)
    for (const { kit, view } of compact) {
      expect(v.is(CompactKitSchema, view)).toBe(true)
      expect([view?.id, view?.digest]).toEqual([kit.id, kit.digest])
      // Each name that is told may be asked for.
      for (const operation of view?.others ?? [])
        expect(toCompactKit(kit, { operation }), operation).not.toBeNull()
    }
  })

  test('has all that the operation takes: only lists beside it are cut', () => {
    for (const card of kitCards) {
      if (typeof card === 'string' || card.operation === undefined) continue
      const { operations } = kitOf(card.id)
      const { output: _, ...called } = Object(card.operation)
      const taken = operations.map(({ response: __, ...operation }) => operation)
      expect(taken).toContainEqual(called)
    }
  })
})

describe('every kit of ours', () => {
  const guides = [...kits.values()].filter(({ kind }) => kind === 'kit')
  const descriptions = new Map(content.listings.map(({ id, description }) => [id, description]))
  const hasSteps = ({ id }: KitView) => descriptions.get(id)?.includes('```') === true

  test('has steps to follow, or a line that installs it for each of the common agents', () => {
    expect(guides.length).toBeGreaterThan(30)
    const lines = guides.map((kit) => ({
      id: kit.id,
      isUsable: hasSteps(kit) || kit.snippets.install?.includes(kit.url) === true,
    }))
    expect(lines.filter(({ isUsable }) => !isUsable)).toEqual([])
  })
})

describe('every listing of ours', () => {
  test('is one of at least 600', () => {
    expect(kits.size).toBeGreaterThanOrEqual(600)
  })

  test('over HTTP says which operations it has', () => {
    expect(
      catalogue.listings
        .filter(({ facts }) => facts.kind === 'http_api' && facts.http.length === 0)
        .map(({ id }) => id),
    ).toEqual([])
  })

  test('over HTTP gives an example whose address is filled in', () => {
    const unfilled = http.flatMap(({ id, operations }) =>
      operations
        .filter(({ example }) => /[{}]/.test(example.url) || URL.parse(example.url) === null)
        .map(({ url }) => `${id} ${url}`),
    )
    expect(unfilled).toEqual([])
  })

  test('that is paid says what a caller must have, and what its first operation costs or why not', () => {
    const paid = http.filter(({ pricing }) => pricing.model === 'per_call')
    expect(paid.filter(({ auth }) => auth.type !== 'payment').map(({ id }) => id)).toEqual([])
    const priced = paid.filter(({ operations }) =>
      operations.some(({ price }) => price !== undefined),
    )
    expect(priced.length / paid.length).toBeGreaterThan(0.85)
  })

  test('says that a body which nobody published is a guess', () => {
    const certain = http.flatMap(({ id, operations }) =>
      operations
        .filter(
          ({ example, body, assumed = [] }) =>
            isEmpty(example.body) && !isEmpty(body?.example) && !assumed.includes('body'),
        )
        .map(({ url }) => `${id} ${url}`),
    )
    expect(certain).toEqual([])
  })

  test('says that what a gateway answers is a guess where the interface behind it documents it', () => {
    const gateways: Record<string, RegExp> = {
      'mpp.tempo.xyz': /\/tempoxyz\//,
      'mpp.paywithlocus.com': /paywithlocus/,
      'mpp.orthogonal.com': /\/orthogonal-sh\//,
    }
    const certain = http.flatMap(({ id, operations }) =>
      operations
        .filter(({ url, response, assumed = [] }) => {
          const [, own] =
            Object.entries(gateways).find(([host]) => hostOf(url).endsWith(host)) ?? []
          const ref = response?.ref
          return (
            own !== undefined &&
            ref !== undefined &&
            !own.test(ref) &&
            !assumed.includes('response')
          )
        })
        .map(({ url }) => `${id} ${url}`),
    )
    expect(certain).toEqual([])
  })

  test('names the row its facts come from, not a whole catalogue', () => {
    const whole =
      /\/discovery\/resources$|seed_2025_05_16\.json$|\/servers\/?$|\/schemas\/services\.ts$/
    expect(
      catalogue.listings
        .filter(({ facts }) => facts.sources.some(({ ref }) => whole.test(ref)))
        .map(({ id }) => id),
    ).toEqual([])
  })

  test('that needs a secret shows a place for it and never a value', () => {
    const settings = [...kits.values()].flatMap(({ invoke }) =>
      invoke.flatMap((entry) =>
        entry.kind === 'mcp_package'
          ? (entry.env ?? [])
          : entry.kind === 'mcp'
            ? (entry.headers ?? [])
            : [],
      ),
    )
    expect(settings.length).toBeGreaterThan(200)
    for (const { secret, value } of settings) if (secret) expect(value).toMatch(/<[A-Z0-9_]+>$/)
  })
})
