import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  countDelivered,
  createPaymentMarks,
  earnsDelivers,
  toOthersText,
} from '../../src/domain/relay/delivered.ts'
import type { JudgedCall, LedgerPayment } from '../../src/domain/trust/ledger-facts.ts'
import { FULL, type ListingScore } from '../../src/domain/trust/score-listings.ts'

const markOf = createPaymentMarks()
const ID = 'x402.seller'
const NOW = 1_790_000_000_000
const wallet = (n: number) => `0x${n.toString(16).padStart(40, '0')}`

function aPayment(n: number, payer: number): LedgerPayment {
  return {
    ...{ network: 'eip155:8453', transaction: `0x${n.toString(16).padStart(64, '0')}`, log: 0 },
    ...{ at: NOW + n * 60_000, asset: 'usd', amount: '1000', usd_micro: 1000, scheme: null },
    ...{ payer: wallet(payer), payee: wallet(9_999), listings: [ID], verdict: 'counted' as const },
  }
}

function aCall(payment: LedgerPayment, verdict: JudgedCall['verdict'], isNamed = true): JudgedCall {
  return {
    ...{ listing_id: ID, call: 'GET https://seller.example/', verdict },
    called_at: payment.at - 2_000,
    payment: hash('sha256', markOf(payment)),
    transaction: payment.transaction,
    isNamed,
    settled: payment.transaction,
  }
}

/** @param weights of payers, in millionths; null where nobody can be vouched for */
function figuresOf(
  calls: JudgedCall[],
  payments: LedgerPayment[],
  weights: [number, number][] | null,
) {
  const score = {
    measured: weights === null ? {} : { unknown_buyers_30d: 0 },
    sharers: 1,
    buyers: new Map((weights ?? []).map(([payer, weight]) => [wallet(payer), weight])),
  } as unknown as ListingScore
  return countDelivered(calls, payments, new Map([[ID, score]])).get(ID)
}

describe('what came back for payments', () => {
  const good = [1, 2, 3].map((n) => aPayment(n, n))
  const vouched = good.map((_, n): [number, number] => [n + 1, FULL])

  it('counts calls of vouched buyers', () => {
    const calls = good.map((payment, n) => aCall(payment, n === 0 ? 'empty' : 'as_declared'))
    expect(figuresOf(calls, good, vouched)).toMatchObject({
      ...{ delivered: 2, paid_calls: 3, buyers: 3, others: { empty: 1 } },
    })
  })
  it('is not moved by a hundred wallets that nobody vouches for', () => {
    const invented = Array.from({ length: 100 }, (_, n) => aPayment(n + 10, n + 100))
    const calls = good.map((payment) => aCall(payment, 'as_declared'))
    const more = invented.map((payment) => aCall(payment, 'other_shape'))
    const before = figuresOf(calls, good, vouched)
    expect(figuresOf([...calls, ...more], [...good, ...invented], vouched)).toEqual(before)
  })
  it('shows nothing where nobody can be vouched for', () => {
    const calls = good.map((payment) => aCall(payment, 'as_declared'))
    expect(figuresOf(calls, good, null)).toBeUndefined()
  })
  it('takes the earliest call of a payment: sending it again changes nothing', () => {
    const [payment] = good
    if (payment === undefined) throw new Error('expected a payment')
    const first = aCall(payment, 'empty')
    const again = { ...aCall(payment, 'as_declared'), called_at: payment.at - 1_000 }
    expect(figuresOf([again, first], [payment], vouched)).toMatchObject({
      delivered: 0,
      paid_calls: 1,
    })
  })
  it('finds the call of a payment although its seller named another transaction', () => {
    const [one, two] = [aPayment(1, 1), aPayment(2, 1)]
    const honest = aCall(one, 'as_declared')
    const hidden = { ...aCall(two, 'empty'), transaction: one.transaction }
    expect(figuresOf([honest, hidden], [one, two], [[1, FULL]])).toMatchObject({
      ...{ delivered: 1, paid_calls: 2, others: { empty: 1 } },
    })
    const invented = { ...aCall(two, 'empty'), transaction: `0x${'9'.repeat(64)}` }
    expect(figuresOf([honest, invented], [one, two], [[1, FULL]])).toMatchObject({ paid_calls: 2 })
  })
  it('is not moved by who writes that a buyer pays, before or after the buyer does', () => {
    const forged = [0, 1].flatMap((n) => {
      const payment = good[n]
      if (payment === undefined) throw new Error('expected a payment')
      const header = { ...aCall(payment, 'payment_asked_again', false), settled: null }
      const copied = { ...aCall(payment, 'error_in_200', false), called_at: payment.at + 1_000 }
      const early = { ...copied, called_at: payment.at - 1_500 }
      return [header, { ...header, verdict: 'error_in_200' as const }, copied, early]
    })
    expect(figuresOf(forged, good, vouched)).toBeUndefined()
    const honest = good.map((payment) => aCall(payment, 'as_declared'))
    expect(figuresOf([...forged, ...honest], good, vouched)).toMatchObject({
      ...{ delivered: 3, paid_calls: 3, others: {} },
    })
  })
  it('counts what could not be judged as not delivered, in the figure, its badge and the order of plans', () => {
    const many = Array.from({ length: 30 }, (_, n) => aPayment(n, (n % 3) + 1))
    const evasive = many.map((payment, n) =>
      aCall(payment, n % 2 === 0 ? 'as_declared' : 'too_large_to_judge'),
    )
    const figures = figuresOf(evasive, many, vouched)
    expect(figures).toMatchObject({
      ...{ delivered: 15, paid_calls: 30, buyers: 3, others: { too_large_to_judge: 15 } },
      operations: [{ delivered: 15, paid_calls: 30 }],
    })
    expect(earnsDelivers(figures)).toBe(false)
    const honest = many.map((payment) => aCall(payment, 'as_declared'))
    expect(earnsDelivers(figuresOf(honest, many, vouched))).toBe(true)
    expect(toOthersText({ others: { cut_off: 2, too_large_to_judge: 1 } })).toBe(
      'Of the others, 2 were cut off, 1 was too large to judge.',
    )
  })
  it('counts a second 402 that two buyers met, who had signed before', () => {
    const met = good.slice(0, 2).map((payment) => aCall(payment, 'payment_asked_again', false))
    expect(figuresOf(met, good, vouched)).toMatchObject({
      ...{ delivered: 0, paid_calls: 2, others: { payment_asked_again: 2 } },
    })
  })
  it('blames nobody for a second 402 that one buyer alone met', () => {
    const [one, two] = good
    if (one === undefined || two === undefined) throw new Error('expected payments')
    const alone = [aCall(one, 'payment_asked_again', false), aCall(two, 'as_declared')]
    expect(figuresOf(alone, good, vouched)).toMatchObject({ delivered: 1, paid_calls: 1 })
  })
})
