import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judgePayouts, type PayoutFacts } from '../../src/domain/owners/payout-standing.ts'

const ONE = `eip155:8453:0x${'ab'.repeat(20)}`
const SHOUTED = `eip155:8453:0x${'AB'.repeat(20)}`
const TWO = `eip155:8453:0x${'cd'.repeat(20)}`

const facts = (id: string, owner: string, changes: Partial<PayoutFacts> = {}): PayoutFacts => ({
  id,
  owner,
  published: [],
  named: [],
  proven: [],
  ...changes,
})
const shop = (changes: Partial<PayoutFacts>, id = 'x402.shop') => facts(id, 'shop.example', changes)
const owning = (...payouts: string[]) => ({
  counts: payouts,
  owned: payouts,
  contested: [],
  sharers: 1,
})
const thief = (changes: Partial<PayoutFacts>) => facts('x402.thief', 'thief.example', changes)

describe('a payout', () => {
  test('that one listing publishes counts for it', () => {
    const standings = judgePayouts([shop({ published: [ONE] })])
    expect(standings.get('x402.shop')).toEqual(owning(ONE))
  })

  test('that two listings of one domain publish counts for both, and they share it', () => {
    const standings = judgePayouts([
      shop({ published: [ONE, TWO] }),
      shop({ published: [SHOUTED] }, 'x402.shop-two'),
    ])
    expect(standings.get('x402.shop')).toEqual({ ...owning(ONE, TWO), sharers: 2 })
    expect(standings.get('x402.shop-two')).toEqual({ ...owning(SHOUTED), sharers: 2 })
  })

  test('that listings of two domains publish counts for neither, and divides nothing', () => {
    const standings = judgePayouts([
      shop({ published: [ONE, TWO] }),
      thief({ published: [SHOUTED] }),
    ])
    expect(standings.get('x402.shop')).toEqual({ ...owning(TWO), contested: [ONE] })
    expect(standings.get('x402.thief')).toEqual({ ...owning(), contested: [SHOUTED] })
  })

  test('that a seed publishes stays the seed’s, whoever publishes it too, until somebody proves it', () => {
    const seed = shop({ published: [ONE], isSeed: true })
    const standings = judgePayouts([seed, thief({ published: [SHOUTED, TWO] })])
    expect(standings.get('x402.shop')).toEqual({ ...owning(ONE), seeded: [ONE] })
    expect(standings.get('x402.thief')).toEqual({ ...owning(TWO), contested: [SHOUTED] })
    const proved = judgePayouts([seed, thief({ published: [ONE], proven: [ONE] })])
    expect(proved.get('x402.shop')).toEqual({ ...owning(), contested: [ONE], seeded: [] })
  })

  test('that one of them proved counts for its domain alone', () => {
    const standings = judgePayouts([
      shop({ published: [ONE], proven: [ONE] }),
      shop({ published: [ONE] }, 'x402.shop-two'),
      thief({ published: [ONE] }),
    ])
    expect(standings.get('x402.shop')).toEqual({ ...owning(ONE), sharers: 2 })
    expect(standings.get('x402.shop-two')).toEqual({ ...owning(ONE), sharers: 2 })
    expect(standings.get('x402.thief')).toEqual({ ...owning(), contested: [ONE] })
  })

  test('that only a 402 named counts for relayed calls, whoever else names, publishes or proved it', () => {
    for (const word of ['named', 'published', 'proven'] as const) {
      const standings = judgePayouts([shop({ [word]: [ONE] }), thief({ named: [ONE] })])
      expect(standings.get('x402.thief')).toEqual({ ...owning(), counts: [ONE] })
    }
  })
})

test('whatever strangers’ 402s name, the standing of who published or proved is the same', () => {
  const payouts = fc.uniqueArray(fc.constantFrom(ONE, TWO, SHOUTED), { maxLength: 2 })
  const listing = fc.record({
    owner: fc.constantFrom('a.example', 'b.example', 'c.example'),
    published: payouts,
    proven: payouts,
  })
  const strangers = fc.array(fc.record({ named: payouts }))
  fc.assert(
    fc.property(fc.array(listing, { maxLength: 5 }), strangers, (listings, others) => {
      const known = listings.map((one, n) => facts(`x402.l${n}`, one.owner, one))
      const naming = others.map(({ named }, n) => facts(`x402.s${n}`, `s${n}.example`, { named }))
      const before = judgePayouts(known)
      const after = judgePayouts([...known, ...naming])
      for (const { id } of known) expect(after.get(id)).toEqual(before.get(id))
    }),
  )
})
