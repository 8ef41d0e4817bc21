import { describe, expect, test } from 'vitest'
import type { Measured } from '../../src/domain/trust/evidence.ts'
import { renderBadgeSvg } from '../../src/domain/views/badge-svg.ts'
import { toBadgeEndpoint, toBadgeView, toListingView } from '../../src/domain/views/listing-view.ts'
import {
  LIVE_PROBES,
  SAMPLE_FACTS,
  toListing,
  toMeasured,
  VIEW_CONTEXT,
} from '../domain/listing-samples.ts'

const UNPRICED = { pricing: { model: 'unknown' } }

const badgeOf = (sample: Parameters<typeof toListing>[0]) =>
  toBadgeView(toListingView(toListing(sample), VIEW_CONTEXT), 'Waypost')

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

  test('of a directory with a mark of its own has no sign of ours, nor room for it', () => {
    const badge = { label: 'Acme', message: 'listed', tone: 'neutral' } as const
    const own = renderBadgeSvg(badge, '', false)
    expect(own).not.toContain('#8fe0b8')
    expect(widthOf(own)).toBeLessThan(widthOf(renderBadgeSvg(badge)))
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
  const LISTED = { label: 'Waypost', message: 'listed', tone: 'neutral' }

  test('a listing without evidence is listed, and no more; our own kits say so', () => {
    expect(badgeOf({ facts: UNPRICED })).toEqual(LISTED)
    const kit = { ...UNPRICED, kind: 'kit', first_party: true }
    expect(badgeOf({ facts: kit }).message).toBe('first-party kit')
  })

  test('a score says whose payments it comes from, and none that there are no independent ones', () => {
    const measuredBy = (changes: Partial<Measured>) =>
      badgeOf({ evidence: { measured: toMeasured(changes) } })
    expect(measuredBy({ verified_buyers_30d: 1 })).toMatchObject({
      message: expect.stringMatching(/^trust \d+, 1 unvouched buyer$/),
      tone: 'neutral',
    })
    expect(measuredBy({ verified_buyers_30d: 9, unknown_buyers_30d: 0 })).toMatchObject({
      message: expect.stringMatching(/^trust \d+, 9 vouched buyers$/),
      tone: 'accent',
    })
    expect(measuredBy({ verified_buyers_30d: 0 })).toMatchObject({
      message: 'no independent buyers yet',
      tone: 'missing',
    })
  })

  test('the same is data for badge services', () => {
    const badge = badgeOf({ facts: UNPRICED })
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
    const facts = { pricing: { ...SAMPLE_FACTS.pricing, min_usd: usd, max_usd: 1 } }
    expect(badgeOf({ facts })).toEqual({ label: 'Waypost', message, tone: 'money' })
  })

  test('a tier stands first', () => {
    const sold = toMeasured({ source: 'service_verified', unknown_buyers_30d: 0 })
    const trusted = { evidence: { probes: LIVE_PROBES }, ownMeasured: sold }
    expect(badgeOf(trusted)).toMatchObject({
      message: expect.stringMatching(/^Trusted/),
      tone: 'strong',
    })
  })
})

function widthOf(svg: string): number {
  return Number(/width="(\d+)"/.exec(svg)?.[1])
}
