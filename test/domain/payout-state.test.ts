import { describe, expect, test } from 'vitest'
import { judgePayouts, type PayoutFacts } from '../../src/derive/payouts.ts'

const ONE = `eip155:8453:0x${'ab'.repeat(20)}`
const SHOUTED = `eip155:8453:0x${'AB'.repeat(20)}`
const TWO = `eip155:8453:0x${'cd'.repeat(20)}`

const facts = (id: string, owner: string, changes: Partial<PayoutFacts> = {}): PayoutFacts => ({
  id,
  owner,
  published: [],
  proven: [],
  ...changes,
})
const shop = (changes: Partial<PayoutFacts>, id = 'x402.shop') => facts(id, 'shop.example', changes)
const owning = (...payouts: string[]) => ({
  owned: payouts,
  contested: [],
  sharers: 1,
})
const thief = (changes: Partial<PayoutFacts>) => facts('x402.thief', 'thief.example', changes)

describe('a payout', () => {
  test('that one listing publishes counts for it', () => {
    const states = judgePayouts([shop({ published: [ONE] })])
    expect(states.get('x402.shop')).toEqual(owning(ONE))
  })

  test('that two listings of one domain publish counts for both, and they share it', () => {
    const states = judgePayouts([
      shop({ published: [ONE, TWO] }),
      shop({ published: [SHOUTED] }, 'x402.shop-two'),
    ])
    expect(states.get('x402.shop')).toEqual({ ...owning(ONE, TWO), sharers: 2 })
    expect(states.get('x402.shop-two')).toEqual({ ...owning(SHOUTED), sharers: 2 })
  })

  test('that listings of two domains publish counts for neither, and divides nothing', () => {
    const states = judgePayouts([shop({ published: [ONE, TWO] }), thief({ published: [SHOUTED] })])
    expect(states.get('x402.shop')).toEqual({ ...owning(TWO), contested: [ONE] })
    expect(states.get('x402.thief')).toEqual({ ...owning(), contested: [SHOUTED] })
  })

  test('that a seed publishes stays the seed’s, whoever publishes it too, until somebody proves it', () => {
    const seed = shop({ published: [ONE], isSeed: true })
    const states = judgePayouts([seed, thief({ published: [SHOUTED, TWO] })])
    expect(states.get('x402.shop')).toEqual(owning(ONE))
    expect(states.get('x402.thief')).toEqual({ ...owning(TWO), contested: [SHOUTED] })
    const proved = judgePayouts([seed, thief({ published: [ONE], proven: [ONE] })])
    expect(proved.get('x402.shop')).toEqual({ ...owning(), contested: [ONE] })
  })

  test('that one of them proved counts for its domain alone', () => {
    const states = judgePayouts([
      shop({ published: [ONE], proven: [ONE] }),
      shop({ published: [ONE] }, 'x402.shop-two'),
      thief({ published: [ONE] }),
    ])
    expect(states.get('x402.shop')).toEqual({ ...owning(ONE), sharers: 2 })
    expect(states.get('x402.shop-two')).toEqual({ ...owning(ONE), sharers: 2 })
    expect(states.get('x402.thief')).toEqual({ ...owning(), contested: [ONE] })
  })
})
