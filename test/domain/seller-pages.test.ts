import { describe, expect, test } from 'vitest'
import { splitAddresses } from '../../src/components/frame/sentences.ts'
import {
  toBadgeEmbeds,
  toClicksByDay,
  toNextSteps,
  toPayoutFacts,
  toPayoutState,
  toProbedRows,
  toSourcesText,
} from '../../src/components/sellers/owner-words.ts'
import { TIER_REASONS } from '../../src/domain/derived/derived-listing.ts'
import { toTiersView } from '../../src/domain/views/listing-view.ts'
import { contentFileOf, toEditUrl } from '../../src/domain/wire/links.ts'
import { BASE_URL, toListing } from './listing-samples.ts'

describe('the badge to paste', () => {
  const codeOf = (name: string) => {
    const { tiers } = toListing()
    const listing = { id: 'x402.shop', directory: 'Signs', facts: { name }, tiers }
    const embeds = toBadgeEmbeds(toTiersView(listing, 'https://waypost.example'))
    return Object.fromEntries(embeds.map(({ label, code }) => [label, code]))
  }

  test('in three languages', () => {
    expect(codeOf('Shop')).toEqual({
      Markdown:
        '[![Shop on Signs](https://waypost.example/badge/x402.shop.svg)](https://waypost.example/listing/x402.shop)',
      HTML: '<a href="https://waypost.example/listing/x402.shop"><img src="https://waypost.example/badge/x402.shop.svg" alt="Shop on Signs" height="20"></a>',
      reStructuredText:
        '.. image:: https://waypost.example/badge/x402.shop.svg\n   :target: https://waypost.example/listing/x402.shop\n   :alt: Shop on Signs',
    })
  })

  test('a name closes no attribute and starts no line of its own', () => {
    const { HTML: html = '', reStructuredText: rst = '' } = codeOf(
      '"><script>alert(1)</script>\n.. raw:: html',
    )
    expect(html).toContain('alt="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(html.match(/</g)).toHaveLength(3)
    expect(rst.split('\n')).toHaveLength(3)
  })
})

test('addresses in our sentences are links, without the full stop behind them', () => {
  const href = 'https://shop.example/.well-known/x.txt'
  expect(splitAddresses(`See ${href}, then (https://a.example/b).`)).toEqual([
    { text: 'See ' },
    { text: href, href },
    { text: ', then (' },
    { text: 'https://a.example/b', href: 'https://a.example/b' },
    { text: ').' },
  ])
  const path = '/.well-known/x.txt'
  expect(splitAddresses(`See ${href}`, 'https://shop.example')).toEqual([
    { text: 'See ' },
    { text: path, href: path },
  ])
  for (const harmless of ['javascript:alert(1)', 'no address', 'https://'])
    expect(splitAddresses(harmless)).toEqual([{ text: harmless }])
})

describe('clicks by day', () => {
  const today = Date.parse('2026-11-22T13:00:00Z')
  const toDays = (clicks: Record<string, number>) =>
    Object.entries(clicks).map(([date, clicks]) => ({ date, clicks }))

  test('days without a click are there, and the sentence says what the plot shows', () => {
    const found = toClicksByDay(
      toDays({ '2026-11-19': 1, '2026-11-20': 2, '2026-11-22': 7 }),
      3,
      today,
    )
    expect(found.days).toEqual(toDays({ '2026-11-20': 2, '2026-11-21': 0, '2026-11-22': 7 }))
    expect(found.sentence).toBe('9 clicks in 3 days, at most 7 a day, on 22 Nov 2026.')
  })

  test('no clicks are said to be none', () => {
    expect(toClicksByDay([], 30, today)).toMatchObject({
      total: 0,
      sentence: 'No clicks in 30 days.',
    })
  })

  test('sources stand most first', () => {
    expect(toSourcesText({ api: 1, web: 1005, mcp: 0 })).toBe(
      'In 90 days 1,006: these pages 1005, the API 1.',
    )
  })
})

describe('what happens next', () => {
  const tiers = toTiersView(toListing(), BASE_URL)
  const linesOf = (steps: ReturnType<typeof toNextSteps>) =>
    steps.map(({ isKnown, text }) => `${isKnown ? 'x' : ' '} ${text.split(/[.:]/)[0]}`)

  test('right after the proof: the next build, then the tier that is missing', () => {
    const steps = toNextSteps({ status: 'unclaimed', tiers })
    expect(linesOf(steps)).toEqual([
      '  The listing shows as claimed after the next build',
      '  Trusted',
    ])
    const not_yet = [{ id: 'trusted' as const, reason: TIER_REASONS.noSales }]
    const [, step] = toNextSteps({ status: 'claimed', tiers: { ...tiers, earned: [], not_yet } })
    expect(step?.text).toMatch(/^Trusted: no sales yet to buyers whom/)
  })
})

test('what our probes saw is in words, the newest first', () => {
  const call = (seen: object) =>
    ({
      method: 'GET',
      url: BASE_URL,
      seen: { at: '2026-11-01', outcome: 'spoke', ...seen },
    }) as const
  const dead = call({ at: '2026-11-02', outcome: 'dead', status: 404 })
  expect(
    toProbedRows({ operations: [call({ status: 402, min_usd: 0.02 }), dead] }).map(
      ({ saw }) => saw,
    ),
  ).toEqual(['No good answer, status 404.', 'It answered, status 402, asked $0.02.'])
})

test.each([
  [{ published: true, counts: true }, 'not proven'],
  [{ published: true, counts: false }, 'contested'],
  // As after its proof was withdrawn, or right after it was typed in.
  [{ published: false, counts: false }, 'not proven'],
  [{ published: false, counts: false, proven_at: '2026-11-01T00:00:00Z' }, 'proven 1 Nov 2026'],
])('a payout %j is %s', (facts, label) => {
  const payout = 'eip155:8453:0x12'
  expect(toPayoutState({ listing_id: 'x402.shop', payout, ...facts }).label).toBe(label)
  expect(toPayoutFacts(payout)).toEqual({ network: 'Base', address: '0x12', way: 'evm' })
})

test('where a listing is edited follows from the site table and its id', () => {
  expect(contentFileOf('x402.a.b')).toBe('content/listings/x402/a.b.md')
  expect(toEditUrl('https://code.example/edit/{file}?plain=1', 'mcp.shop')).toBe(
    'https://code.example/edit/content/listings/mcp/shop.md?plain=1',
  )
})
