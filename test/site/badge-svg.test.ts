import { describe, expect, test } from 'vitest'
import { renderBadgeSvg } from '../../src/components/badges/badge-svg.ts'
import { toBadgeEndpoint, toBadgeView } from '../../src/domain/views/listing-view.ts'

const tiers = {
  tier: null,
  tier_label: null,
  highest_earned: null,
  earned: [],
  paid: [] as [],
  not_yet: [],
  badge_svg: '',
  page: '',
  embed_markdown: '',
  tiers_doc: '',
}
const pricing = { model: 'unknown' } as const
const none = { score: null, evidence: 'no_payment_data', method: 'hub-trust-v0.1' } as const

describe('the badge image', () => {
  test('is 20 px high, names itself and runs nothing', () => {
    const svg = renderBadgeSvg({ label: 'Waypost', message: 'Trusted · trust 62', tone: 'strong' })
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="\d+" height="20"/)
    expect(svg).toContain('<title>Waypost: Trusted · trust 62</title>')
    expect(svg).not.toMatch(/<script|<style|href=|url\((?!#)/)
  })

  test.each([
    ['markup', '</text><script>alert(1)</script>', '&lt;/text&gt;&lt;script&gt;'],
    ['quotes and ampersands', '"a" & \'b\'', '&quot;a&quot; &amp; &#39;b&#39;'],
    ['a CDATA end', ']]>', ']]&gt;'],
  ])('escapes %s', (_, message, expected) => {
    const svg = renderBadgeSvg({ label: 'Waypost', message, tone: 'accent' })
    expect(svg).toContain(expected)
    expect(svg).not.toContain('<script')
  })

  test('leaves out what XML forbids and replaces half an emoji', () => {
    const svg = renderBadgeSvg({ label: 'a\u0000b', message: 'c\ud83d', tone: 'neutral' })
    expect(svg).toContain('ab')
    expect(svg).toContain('c\ufffd')
    expect(svg.isWellFormed()).toBe(true)
  })

  test('grows with its text and cuts what is too long', () => {
    const short = widthOf(renderBadgeSvg({ label: 'Waypost', message: 'listed', tone: 'neutral' }))
    const long = renderBadgeSvg({ label: 'Waypost', message: 'w'.repeat(120), tone: 'neutral' })
    expect(widthOf(long)).toBeGreaterThan(short)
    expect(long).toContain(`${'w'.repeat(47)}…`)
    expect(long).not.toContain('w'.repeat(48))
  })
})

describe('what a badge says', () => {
  test('a listing without evidence is listed, and no more', () => {
    expect(toBadgeView({ tiers, trust: none, first_party: false, pricing }, 'Waypost')).toEqual({
      label: 'Waypost',
      message: 'listed',
      tone: 'neutral',
    })
  })

  test('our own kits say so', () => {
    expect(toBadgeView({ tiers, trust: none, first_party: true, pricing }, 'Waypost').message).toBe(
      'first-party kit',
    )
  })

  test('a score says whose payments it comes from', () => {
    const trust = {
      score: 12,
      evidence: 'verified_non_wash_payments',
      sample: 'low',
      verified_buyers_30d: 1,
      settlements_30d: 2,
      wash_flags: [],
      watch: [],
      volume_usd_30d: 1,
      top_buyer_share_30d: 1,
      last_settlement_at: null,
      as_of: '2026-11-01T00:00:00Z',
      shared_payout: false,
      method: 'hub-trust-v0.1',
      source: 'x',
    } as const
    const view = { ...trust, wash_flags: [], watch: [] }
    const badgeOf = (facts: object) =>
      toBadgeView({ tiers, trust: { ...view, ...facts }, first_party: false, pricing }, 'Waypost')
    expect(badgeOf({})).toMatchObject({ message: 'trust 12, 1 unvouched buyer', tone: 'neutral' })
    expect(
      badgeOf({ verified_buyers_30d: 9, unknown_buyers_30d: 0, sample: undefined }),
    ).toMatchObject({ message: 'trust 12, 9 vouched buyers', tone: 'accent' })
  })

  test('the same is data for badge services', () => {
    const badge = toBadgeView({ tiers, trust: none, first_party: false, pricing }, 'Waypost')
    expect(toBadgeEndpoint(badge)).toEqual({
      schemaVersion: 1,
      label: 'Waypost',
      message: 'listed',
      color: '4f6257',
    })
    // The image and its twin must not drift apart.
    expect(renderBadgeSvg(badge)).toContain('#4f6257')
  })

  test.each([
    [0.004, 'from $0.004'],
    [0, 'free'],
  ])('without evidence a price is said: %d', (usd, message) => {
    const rails = ['x402' as const]
    const priced = { model: 'per_call' as const, min_usd: usd, max_usd: 1, rails, networks: [] }
    const badge = toBadgeView(
      { tiers, trust: none, first_party: false, pricing: priced },
      'Waypost',
    )
    expect(badge).toEqual({ label: 'Waypost', message, tone: 'money' })
  })

  test('payments without an independent buyer are not a score, and it is said so', () => {
    const trust = {
      score: null,
      evidence: 'no_independent_paid_usage_30d',
      verified_buyers_30d: 0,
      settlements_30d: 9,
      wash_flags: [],
      watch: [],
      volume_usd_30d: 1,
      top_buyer_share_30d: 0,
      last_settlement_at: null,
      as_of: '2026-11-01T00:00:00Z',
      shared_payout: false,
      method: 'hub-trust-v0.1',
      source: 'x',
    } as const
    const view = { ...trust, wash_flags: [], watch: [] }
    expect(
      toBadgeView({ tiers, trust: view, first_party: false, pricing }, 'Waypost'),
    ).toMatchObject({
      message: 'no independent buyers yet',
      tone: 'missing',
    })
  })

  test('a tier stands first', () => {
    const trusted = { ...tiers, tier: 'trusted' as const, tier_label: 'Trusted' }
    expect(
      toBadgeView({ tiers: trusted, trust: none, first_party: false, pricing }, 'Waypost'),
    ).toMatchObject({
      message: 'Trusted',
      tone: 'strong',
    })
  })
})

function widthOf(svg: string): number {
  return Number(/width="(\d+)"/.exec(svg)?.[1])
}
