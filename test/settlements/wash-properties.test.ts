import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Transfer } from '../../src/domain/trust/payments.ts'
import {
  aSettlement,
  aTransfer,
  DAY_MS,
  excludeWash,
  known,
  measureSeller,
  NOON,
  PAYOUT,
  type Settlement,
  wallet,
} from './samples.ts'

describe('properties', () => {
  const anyPayments = fc.array(
    fc.record({
      payer: fc.integer({ min: 0, max: 30 }).map(wallet),
      amount: fc.integer({ min: 1, max: 4 }).map((n) => String(n * 10_000)),
      at: fc.integer({ min: NOON - 29 * DAY_MS, max: NOON }),
    }),
    { maxLength: 60 },
  )
  const toSettlements = (rows: { payer: string; amount: string; at: number }[]) =>
    rows.map((row) => aSettlement({ ...row, usd: Number(row.amount) / 1e6 }))
  const numbers = (settlements: Settlement[], transfers: Transfer[] = []) => {
    const measured = measureSeller(settlements, transfers)
    // What is raw is what there was before anything was excluded.
    const { wash_flags: _, raw: __, ...rest } = measured ?? { wash_flags: [], raw: undefined }
    return rest
  }

  test('payments in a bridged coin are counted, and said to be', () => {
    const paid = (network: string) =>
      toSettlements([{ payer: wallet(1), amount: '1', at: NOON }]).map((one) => ({
        ...one,
        network,
      }))
    expect(numbers([...paid('eip155:4217'), ...paid('eip155:8453')])).toMatchObject({
      settlements_30d: 2,
      watch: [{ id: 'bridged_coin', note: expect.stringContaining('1 of these payments') }],
    })
    expect(numbers(paid('eip155:8453'))).toMatchObject({ watch: [] })
  })

  test('what is excluded and what is left are all there was', () => {
    fc.assert(
      fc.property(anyPayments, (rows) => {
        const settlements = toSettlements(rows)
        const { independent, flags } = excludeWash(settlements, known())
        const excluded = flags.reduce((sum, flag) => sum + flag.settlements, 0)
        expect(independent.length + excluded).toBe(settlements.length)
      }),
    )
  })

  test('a seller who pays himself changes nothing that counts, only flags', () => {
    fc.assert(
      fc.property(anyPayments, fc.nat(50), (rows, selfPayments) => {
        const settlements = toSettlements(rows)
        const own = Array.from({ length: selfPayments }, () =>
          aSettlement({ payer: PAYOUT, at: NOON, usd: 5 }),
        )
        fc.pre(settlements.length > 0)
        expect(numbers([...settlements, ...own])).toEqual(numbers(settlements))
      }),
    )
  })

  test('a funded wallet changes nothing that counts, only flags', () => {
    fc.assert(
      fc.property(anyPayments, fc.integer({ min: 1, max: 40 }), (rows, count) => {
        const settlements = toSettlements(rows)
        fc.pre(settlements.length > 0)
        const shill = wallet(999)
        const paid = Array.from({ length: count }, (_, n) =>
          aSettlement({ payer: shill, at: NOON - n, usd: 5 }),
        )
        const funding = [aTransfer({ to: shill, at: NOON - 2 * DAY_MS })]
        expect(numbers([...settlements, ...paid], funding)).toEqual(numbers(settlements, funding))
      }),
    )
  })

  test('a crowd of one hand, however large, takes nobody with it who did not pay in its half hour', () => {
    fc.assert(
      fc.property(
        anyPayments,
        fc.integer({ min: 10, max: 200 }),
        fc.integer({ min: 1, max: 4 }),
        (rows, count, price) => {
          const earlier = toSettlements(rows).filter(({ at }) => at < NOON - 3_600_000)
          fc.pre(excludeWash(earlier, known()).flags.length === 0)
          const amount = String(price * 10_000)
          const crowd = Array.from({ length: count }, (_, n) =>
            aSettlement({ payer: wallet(1000 + n), amount, at: NOON - n }),
          )
          const fills = crowd.map(({ payer }, n) =>
            aTransfer({ from: wallet(900), to: payer, transaction: `0x${n}`, at: NOON - DAY_MS }),
          )
          const { independent } = excludeWash([...earlier, ...crowd], known(fills))
          for (const settlement of earlier) expect(independent).toContain(settlement)
        },
      ),
    )
  })

  test('the order in which settlements were seen does not matter', () => {
    fc.assert(
      fc.property(anyPayments, (rows) => {
        const settlements = toSettlements(rows)
        expect(numbers(settlements.toReversed())).toEqual(numbers(settlements))
      }),
    )
  })
})
