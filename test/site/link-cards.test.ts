import { expect, test } from 'vitest'
import { drawCard, toLinkCards, widthOf, wrapToWidth } from '../../src/build/cards/link-cards.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'

const WITHOUT = { payments: false, trust: false, business_model: false }
const textsOf = (svg = '') =>
  [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) => text)
const ofCategory = (name: string, description = 'First.') =>
  toLinkCards([{ id: 'a', name, description }], SITE_TEXTS, {}).at(-1)?.svg ?? ''

test('a kind’s card says of it what its page says', () => {
  const [http] = toLinkCards([], SITE_TEXTS, {}).filter(({ path }) => path.includes('http_api'))
  expect(textsOf(http?.svg).join(' ')).toContain('Called over plain HTTP.')
})

test('a directory without payments and trust says no word of them on its cards', () => {
  const texts = { ...SITE_TEXTS, strapline: 'Services of the house' }
  const cards = toLinkCards([], texts, WITHOUT).map(({ svg }) => svg)
  expect(cards.flatMap(textsOf).join(' ')).not.toMatch(/x402|MPP|402|price|pay|trust|\$/i)
  expect(cards.join('')).not.toContain('M112 384h976')
})

test('hostile text is text: no element, no reference, no control character', () => {
  const name = '</text><image href="http://evil.example/a.png"/>&xxe;\u0000\ud800'
  const svg = ofCategory(name, name.repeat(20))
  expect(svg).not.toMatch(/<image|href="|&xxe|\p{Cc}|\p{Cs}/u)
  expect(svg.match(/<(\w+)/g)?.every((tag) => /^<(svg|path|rect|g|text)$/.test(tag))).toBe(true)
})

test('a name in a script without letters here is the directory’s; one with some signs too many keeps the rest', () => {
  const title = (name: string) => textsOf(ofCategory(name))[1]
  expect(title('天気サーバー')).toBe(SITE_TEXTS.name)
  expect(title('Tidewise Harbour 🌊')).toBe('Tidewise Harbour')
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
  const cards = toLinkCards([{ id: 'a', name: 'A', description: 'First.' }], SITE_TEXTS, {})
  expect(cards.map(({ path }) => path)).toContain('/og/category/a.png')
  expect(new Set(cards.map(({ svg }) => svg)).size).toBe(cards.length)
})

test('a card is drawn as a picture of its size, and the next one too after one that cannot be', async () => {
  const sizeOf = async (svg: string) => {
    const png = Buffer.from(await drawCard(svg))
    return [png.toString('latin1', 1, 4), png.readUInt32BE(16), png.readUInt32BE(20)]
  }
  await expect(drawCard('no picture')).rejects.toThrow()
  expect(await sizeOf(ofCategory('A'))).toEqual(['PNG', 1200, 630])
})
