import { describe, expect, test } from 'vitest'
import { earnBadges, earnTiers } from '../../src/domain/derived/derived-listing.ts'
import { judgeTrust } from '../../src/domain/trust/trust.ts'
import { toTiersView } from '../../src/domain/views/listing-view.ts'
import { toMeasured } from './listing-samples.ts'

const UNCLAIMED = { id: 'verified', reason: 'the listing is not claimed with domain proof' }
const NOT_TESTED = { id: 'trusted', reason: 'needs the earned Live-Tested badge' }
const NO_SALES = { id: 'trusted', reason: 'no independent sales yet' }
const TOO_FEW = {
  id: 'trusted',
  reason: 'needs 3+ independent buyers and 5+ settlements in 30 days',
}

const noData = judgeTrust(undefined, 1, '2026-11-01')
const unsold = judgeTrust(toMeasured({ verified_buyers_30d: 0 }), 1, '2026-11-01')
const known = { unknown_buyers_30d: 0 }
const fewBuyers = judgeTrust(toMeasured({ ...known, verified_buyers_30d: 2 }), 1, '2026-11-01')
const fewSettlements = judgeTrust(toMeasured({ ...known, settlements_30d: 4 }), 1, '2026-11-01')
const sold = judgeTrust(
  toMeasured({ ...known, verified_buyers_30d: 3, settlements_30d: 5 }),
  1,
  '2026-11-01',
)
/** By a provider's word, or where too few known sellers are measured. */
const unknown = judgeTrust(
  toMeasured({ verified_buyers_30d: 3, settlements_30d: 5 }),
  1,
  '2026-11-01',
)

describe('tiers', () => {
  test.each([
    ['a fresh listing', false, false, noData, null, [], [UNCLAIMED, NOT_TESTED]],
    ['good sales alone', false, false, sold, null, [], [UNCLAIMED, NOT_TESTED]],
    ['claimed', true, false, noData, 'verified', ['verified'], [NOT_TESTED]],
    ['claimed with sales', true, false, sold, 'verified', ['verified'], [NOT_TESTED]],
    ['tested', false, true, noData, null, ['live_tested'], [UNCLAIMED, NO_SALES]],
    ['tested, unsold', false, true, unsold, null, ['live_tested'], [UNCLAIMED, NO_SALES]],
    ['tested, two buyers', false, true, fewBuyers, null, ['live_tested'], [UNCLAIMED, TOO_FEW]],
    ['tested, 4 sales', false, true, fewSettlements, null, ['live_tested'], [UNCLAIMED, TOO_FEW]],
    ['tested, buyers unknown', false, true, unknown, null, ['live_tested'], [UNCLAIMED, NO_SALES]],
    ['tested and sold', false, true, sold, 'trusted', ['live_tested', 'trusted'], [UNCLAIMED]],
    ['all of it', true, true, sold, 'trusted', ['live_tested', 'verified', 'trusted'], []],
    ['claimed, tested', true, true, noData, 'verified', ['live_tested', 'verified'], [NO_SALES]],
  ])('%s', (_, isClaimed, isLiveTested, trust, tier, earned, not_yet) => {
    expect(earnTiers({ isClaimed, isLiveTested, trust })).toEqual({
      tier,
      tier_label: tier === null ? null : { verified: 'Verified', trusted: 'Trusted' }[tier],
      highest_earned: tier,
      earned,
      paid: [],
      not_yet,
    })
  })
})

describe('badges', () => {
  test.each([
    ['unclaimed', noData, false, ['unclaimed']],
    ['unclaimed', unsold, false, ['unclaimed']],
    ['unclaimed', fewBuyers, false, ['unclaimed', 'paid_usage_verified']],
    ['unclaimed', unknown, false, ['unclaimed']],
    ['unclaimed', sold, true, ['unclaimed', 'paid_usage_verified', 'live_tested']],
    ['claimed', noData, true, ['domain_verified', 'live_tested']],
    ['claimed', sold, true, ['domain_verified', 'paid_usage_verified', 'live_tested']],
  ] as const)('%s, %o, live-tested %s', (status, trust, isLiveTested, badges) => {
    expect(earnBadges({ status, trust, isLiveTested })).toEqual(badges)
  })
})

describe('tiers on the wire', () => {
  const tiers = earnTiers({ isClaimed: false, isLiveTested: false, trust: noData })

  test('carry absolute addresses', () => {
    const listing = { id: 'x402.a.b', directory: 'Signs', facts: { name: 'A' }, tiers }
    const view = toTiersView(listing, 'https://d.example')
    expect(view).toEqual({
      ...tiers,
      badge_svg: 'https://d.example/badge/x402.a.b.svg',
      page: 'https://d.example/listing/x402.a.b',
      embed_markdown:
        '[![A on Signs](https://d.example/badge/x402.a.b.svg)](https://d.example/listing/x402.a.b)',
      tiers_doc: 'https://d.example/badges',
    })
  })
})
