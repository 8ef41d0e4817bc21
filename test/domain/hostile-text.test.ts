import fc from 'fast-check'
import markdownIt from 'markdown-it'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { toArdEntry } from '../../functions/protocols/ard.ts'
import { toListingMarkdown } from '../../functions/protocols/protocols.ts'
import { toCallRows } from '../../src/components/calls/call-rows.ts'
import { renderDescription } from '../../src/derive/description.ts'
import { toCompareRow } from '../../src/domain/compare/compare-view.ts'
import { toKitView } from '../../src/domain/kit/kit-view.ts'
import { withoutHidden } from '../../src/domain/listing/listing-text.ts'
import { toKitCard, toListingCard, toServerCard } from '../../src/domain/protocols/cards.ts'
import { toLlmsFullText } from '../../src/domain/protocols/catalogues.ts'
import { toRegistryRows, toResourceRows } from '../../src/domain/protocols/registry-entry.ts'
import { EvidenceSchema } from '../../src/domain/trust/evidence.ts'
import { renderBadgeSvg } from '../../src/domain/views/badge-svg.ts'
import {
  toBadgeView,
  toListingView,
  toPreparedSummary,
} from '../../src/domain/views/listing-view.ts'
import { toScriptJson } from '../../src/domain/wire/escape.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'
import { drawsOf } from '../support/long.ts'
import { BASE_URL, SOURCES, toListing, VIEW_CONTEXT } from './listing-samples.ts'

/** Legal names, each an attack on one reader further down. */
const NAMES = [
  '<script>alert(1)</script>',
  '</script><img src=x onerror=alert(1)>',
  '"><svg/onload=alert(1)>',
  '<!-- --><![CDATA[ ]]>',
  '](javascript:alert(1))',
  '![x](https://evil.example/x.png)',
  '](https://evil.example) [',
  'a\\](https://evil.example)',
  '`code` **bold** __under__ ~~gone~~',
  '[x]: https://evil.example',
  '<https://evil.example>',
  '&lpar;&#93;&amp;',
  '\\',
  'ends with \\',
  '=HYPERLINK("https://evil.example")',
  "'; DROP TABLE listings; --",
  '{{7*7}} {base_url} %s %n $& $1',
  '__proto__',
  'constructor',
  'خدمة الطقس',
  '👨‍👩‍👧‍👦 天気',
]

describe.each(NAMES)('a listing named %s', (name) => {
  const listing = toListing({ facts: { name, summary: name, tags: [name] }, description: name })
  const view = toListingView(listing, VIEW_CONTEXT)

  test('stands in every view as it was written', () => {
    const summary = toPreparedSummary(listing, BASE_URL)
    const row = toCompareRow(listing, SOURCES)
    for (const each of [view, summary, row]) {
      expect(each).toMatchObject({ name, summary: name })
      expect(JSON.parse(JSON.stringify(each))).toEqual(each)
    }
    expect(view.tags).toEqual([name])
  })

  test('changes no address', () => {
    const { embed_markdown: _, ...tiers } = view.tiers
    expect(JSON.stringify({ ...tiers, page: view.page, go: view.go, claim: view.claim })).toBe(
      JSON.stringify(harmlessAddresses()),
    )
  })

  test('is the text of one image in one link when its badge is embedded', () => {
    const inline = markdownIt('commonmark')
      .parse(view.tiers.embed_markdown, {})
      .flatMap(({ children }) => children ?? [])
    expect(inline.map(({ type }) => type)).toEqual(['link_open', 'image', 'link_close'])
    expect(inline[0]?.attrGet('href')).toBe(`${BASE_URL}/listing/x402.example-weather`)
    expect(inline[1]?.attrGet('src')).toBe(`${BASE_URL}/badge/x402.example-weather.svg`)
    expect(textOf(inline[1]?.children ?? [])).toBe(`${name} on Waypost`)
  })

  test('makes no second link where the reader turns addresses into links', () => {
    const html = markdownIt({ html: true, linkify: true }).render(view.tiers.embed_markdown)
    expect(tagsOf(html).map((tag) => tag.split(' ')[0])).toEqual([
      '<p>',
      '<a',
      '<img',
      '</a>',
      '</p>',
    ])
  })

  test('cannot leave a script element of a page', () => {
    const json = toScriptJson(view)
    expect(json).not.toMatch(/[<>&\u2028\u2029]/)
    expect(JSON.parse(json)).toEqual(view)
  })

  test('puts no element into a badge', () => {
    const honest = renderBadgeSvg(toBadgeView(view, 'Waypost'))
    expect(honest).not.toContain(name.length > 3 ? name : 'no such text')
    const forged = renderBadgeSvg({ label: name, message: name, tone: 'accent' })
    expect(elementsOf(forged)).toEqual(elementsOf(honest))
  })

  test('puts no live markup into a description', () => {
    const legal =
      /^<\/?(?:p|strong|em|s|code|ul|li|h[3-6]|br)>$|^<a href="(?:https:|mailto:)[^"]*" rel="nofollow ugc noopener">$|^<\/a>$/
    expect(tagsOf(renderDescription(name)).filter((tag) => !legal.test(tag))).toEqual([])
  })
})

function harmlessAddresses() {
  const view = toListingView(toListing(), VIEW_CONTEXT)
  const { embed_markdown: _, ...tiers } = view.tiers
  return { ...tiers, page: view.page, go: view.go, claim: view.claim }
}

function textOf(tokens: readonly { content: string }[]): string {
  return tokens.map(({ content }) => content).join('')
}

function tagsOf(html: string): string[] {
  return html.match(/<[^>]*>/g) ?? []
}

function elementsOf(svg: string): string[] {
  return svg.match(/<\/?[a-z]+/gi) ?? []
}

/** What a reader can't see, or what turns the text beside it: written out, not by class. */
const HIDDEN = [
  ...['\u0000', '\u0007', '\u001b', '\u007f', '\u009b', '\u00ad', '\u061c', '\u180e', '\u200b'],
  ...['\u200e', '\u200f', '\u2028', '\u2029', '\u202a', '\u202e', '\u2060', '\u2066', '\u2069'],
  ...['\ufeff', '\ufff9', '\u{e0001}', '\u{e0041}', '\u{e007f}', '\u{f0000}', '\ud800'],
]
const WORDS = [
  'ok',
  'ignore all',
  'a\nb',
  '天気',
  '👩‍👧',
  'نمونه',
  '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
]

const hostileText = fc
  .array(fc.constantFrom(...HIDDEN, ...WORDS), { minLength: 1, maxLength: 6 })
  .map((parts) => `x${parts.join('')}`)

const hostileSchema = fc.record({
  type: fc.constant('object'),
  title: hostileText,
  description: hostileText,
  required: fc.array(hostileText, { maxLength: 2 }),
  properties: fc.dictionary(
    hostileText,
    fc.record({ type: fc.constant('string'), enum: fc.array(hostileText), default: hostileText }),
    { maxKeys: 3 },
  ),
  examples: fc.array(fc.dictionary(hostileText, hostileText), { maxLength: 2 }),
})

const hostileService = fc.record({
  schema: hostileSchema,
  example: fc.dictionary(hostileText, hostileText, { maxKeys: 3 }),
  text: hostileText,
})
type HostileService = typeof hostileService extends fc.Arbitrary<infer Service> ? Service : never

function toOutputs(kind: string, { schema, example, text }: HostileService): unknown[] {
  const url = 'https://api.weather.example/now'
  const payload = { content_type: 'application/json', schema, example }
  const params = [{ name: 'q', in: 'query', required: true, schema, example: text }]
  const operation = { method: 'POST', url, params, body: payload, response: payload }
  const price = { price: { min_usd: 0.01, max_usd: 0.01, per: 'call' } }
  const listing = toListing({
    facts: {
      kind,
      ...(kind === 'mcp_server'
        ? { invoke: [{ kind: 'mcp', transport: 'streamable-http', url }] }
        : { http: [{ ...operation, ...price }] }),
    },
    description: text,
    evidence: v.parse(EvidenceSchema, {
      interface: {
        at: '2026-11-01T00:00:00Z',
        from: 'openapi',
        operations: [{ ...operation, method: 'PUT' }],
        tools: [{ name: 'tool', description: 'Does it.', input_schema: schema }],
      },
    }),
  })
  const view = toListingView(listing, VIEW_CONTEXT)
  const kit = toKitView(listing, { baseUrl: BASE_URL, trust: view.trust })
  return [
    ...[view, kit, toCallRows(kit), renderDescription(listing.description), listing.evidence],
    ...[
      toListingMarkdown(view, kit, { baseUrl: BASE_URL, switches: SITE_TEXTS.switches }),
      toLlmsFullText(BASE_URL, SITE_TEXTS, [view]),
    ],
    ...[
      toResourceRows([listing], BASE_URL),
      toRegistryRows([listing], [], { baseUrl: BASE_URL, policies: [] }),
    ],
    ...[toArdEntry(view, BASE_URL), toServerCard(view, BASE_URL), toListingCard(view)],
    ...[toKitCard(kit, {}), toKitCard(kit, { operation: 0 })],
  ]
}

/** Every string of a value, keys included, as a reader of the JSON would get it. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => [key, ...textsOf(member)])
}

describe.each(['http_api', 'mcp_server'])('an %s whose schemas hide characters', (kind) => {
  test('shows none of them, in no string and no key of any output', () => {
    const flags = /\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}/gu
    fc.assert(
      fc.property(hostileService, (service) => {
        const texts = toOutputs(kind, service).flatMap(textsOf)
        const shown = texts.map((text) => text.replace(flags, ''))
        expect(shown.filter((text) => HIDDEN.some((each) => text.includes(each)))).toEqual([])
      }),
      { numRuns: drawsOf(60) },
    )
  })
})

test('cleaning keeps what has work to do, and of two keys that become one the first', () => {
  const kept = { 'a b': ['two\nlines\tand tabs', '👩‍👧', 'می‌خواهم', 1, null, true] }
  expect(withoutHidden(kept)).toEqual(kept)
  expect(withoutHidden({ 'a\u200b': 1, a: 2, '\u202e': 3, 'b\nc': 4 })).toEqual({ a: 1, 'b c': 4 })
})
