import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createKeptCards } from '../../functions/cards/listing-cards.ts'
import { toListingView } from '../../src/domain/views/listing-view.ts'
import { renderCardSvg } from '../../src/site/cards/card-svg.ts'
import { widthOf, wrapToWidth } from '../../src/site/cards/face.ts'
import { type LinkCard, toListingCard, toPageCards } from '../../src/site/cards/link-card.ts'
import { toListing, VIEW_CONTEXT } from '../domain/listing-samples.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'

const WITHOUT = { payments: false, trust: false, business_model: false }
const toCard = (facts: Record<string, unknown> = {}, switches = {}): LinkCard =>
  toListingCard(toListingView(toListing({ facts }), VIEW_CONTEXT), 'Waypost', switches)
const textsOf = (svg: string) =>
  [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) => text)

test('a card says what a listing is decided by', () => {
  expect(textsOf(renderCardSvg(toCard()))).toEqual([
    'HTTP API',
    'Example Weather',
    'Current weather for a place.',
    'EW',
    'Price from',
    '$0.01',
    'x402 on',
    'Base',
    'Waypost',
    'x402.example-weather',
  ])
})

test('where nothing that decides is known, it says where the listing runs', () => {
  const unknown = { pricing: { model: 'unknown' } }
  expect(toCard(unknown).facts).toEqual([{ label: 'Runs', value: 'Hosted', note: '' }])
})

test('a kind’s card says of it what its page says', () => {
  const [http] = toPageCards([], SITE_TEXTS, {}).filter(({ path }) => path.includes('http_api'))
  expect(http?.card.words).toBe(
    'Called over plain HTTP. Paid ones answer 402 with their price and charge per call.',
  )
})

test('a directory without payments and trust says no word of them on its cards', () => {
  const texts = { ...SITE_TEXTS, strapline: 'Services of the house' }
  const cards = toPageCards([], texts, WITHOUT).map(({ card }) => card)
  const written = [...cards, { ...toCard({}, WITHOUT), foot: '' }].flatMap((card) =>
    textsOf(renderCardSvg(card)),
  )
  expect(written.join(' ')).not.toMatch(/x402|MPP|402|price|pay|trust|\$/i)
  expect(cards.map(renderCardSvg).join('')).not.toContain('M112 384h976')
})

test('hostile text is text: no element, no reference, no control character', () => {
  const name = '</text><image href="http://evil.example/a.png"/>&xxe;\u0000\ud800'
  const svg = renderCardSvg({ ...toCard(), title: name, words: name.repeat(20), foot: name })
  expect(svg).not.toMatch(/<image|href="|&xxe|\p{Cc}|\p{Cs}/u)
  expect(svg.match(/<(\w+)/g)?.every((tag) => /^<(svg|path|rect|g|text)$/.test(tag))).toBe(true)
})

test('a name in a script without letters here is its id; one with some signs too many keeps the rest', () => {
  expect(textsOf(renderCardSvg(toCard({ name: '天気サーバー' })))).toContain('x402.example-weather')
  expect(textsOf(renderCardSvg(toCard({ name: 'Tidewise Harbour 🌊' })))).toContain(
    'Tidewise Harbour',
  )
})

test.each(['a'.repeat(400), `${'word '.repeat(90)}`, 'WWWWWWWW'.repeat(30), 'é'.repeat(300)])(
  'nothing is wider than its place: %#',
  (long) => {
    const lines = wrapToWidth(long.trim(), { weight: 800, size: 56, width: 758, lines: 2 })
    expect(lines).toHaveLength(2)
    for (const line of lines) expect(widthOf(line, 800, 56)).toBeLessThanOrEqual(758)
    expect(lines[1]).toMatch(/…$/)
  },
)

test('every page has a card of its own name, none of two the same', () => {
  const cards = toPageCards([{ id: 'a', name: 'A', description: 'First.' }], SITE_TEXTS, {})
  expect(cards.map(({ path }) => path)).toContain('/og/category/a.png')
  expect(new Set(cards.map(({ card }) => renderCardSvg(card))).size).toBe(cards.length)
})

test('kept cards come back, and the oldest go when there are too many', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waypost-cards-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const kept = createKeptCards(folder, 8)
  for (let number = 0; number < 20; number += 1)
    await kept.keep(`k${number}`, Buffer.from(String(number)))
  expect(readdirSync(folder).length).toBeLessThanOrEqual(8)
  expect(await kept.read('k0')).toBeNull()
  expect(Buffer.from((await kept.read('k19')) ?? []).toString()).toBe('19')
})
