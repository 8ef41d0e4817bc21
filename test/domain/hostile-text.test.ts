import markdownIt from 'markdown-it'
import { describe, expect, test } from 'vitest'
import { renderDescription } from '../../src/compile/derive/render-description.ts'
import { toCompareRow } from '../../src/domain/compare/compare-row.ts'
import { toBadgeView } from '../../src/domain/views/badge-view.ts'
import { toListingView } from '../../src/domain/views/listing-view.ts'
import { toPreparedSummary } from '../../src/domain/views/summary-view.ts'
import { toScriptJson } from '../../src/domain/wire/script-json.ts'
import { renderBadgeSvg } from '../../src/site/badges/badge-svg.ts'
import { BASE_URL, SOURCES, toListing } from './listing-samples.ts'

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
  const view = toListingView(listing, { baseUrl: BASE_URL, sources: SOURCES })

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
    const honest = renderBadgeSvg(toBadgeView(view))
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
  const view = toListingView(toListing(), { baseUrl: BASE_URL, sources: SOURCES })
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
