import type { Measured } from '../../src/domain/trust/evidence.ts'
import type { Transfer } from '../../src/domain/trust/payments.ts'
import { scoreListings } from '../../src/domain/trust/score-listings.ts'
import { windowEnd } from '../../src/domain/trust/trust.ts'
import {
  findWash,
  indexTransfers,
  WASH_FLAGS,
  type WashFlagId,
  type WashKnowledge,
} from '../../src/domain/trust/wash.ts'
import { judgeSeen, type SeenPayment } from '../support/judge-seen.ts'

/** One true payment, and the headers and logs that go with it; tests bend them. */
export const NETWORK = 'eip155:84532'
export const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e'
export const PAYOUT = '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc'
export const HASH = `0x${'cd'.repeat(32)}`
export const BLOCK_HASH = `0x${'ef'.repeat(32)}`
export const USED_TOPIC = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'

export const hexQuantity = (value: number) => `0x${value.toString(16)}`

export const DAY_MS = 86_400_000
/** Noon of a day. */
export const NOON = Date.UTC(2026, 10, 20, 12)

let count = 0

/** Of a payer whose money was traced. */
export type Settlement = SeenPayment

export function aSettlement(changes: Partial<Settlement> = {}): Settlement {
  count += 1
  return {
    network: NETWORK,
    transaction: `0x${count.toString(16).padStart(64, '0')}`,
    log: 1,
    listing_id: 'x402.seller',
    payer: wallet(count),
    payee: PAYOUT,
    usd: 0.01,
    amount: '10000',
    at: NOON - 3_600_000,
    block: null,
    scheme: 'eip3009',
    ...changes,
  }
}

export const aTransfer = (changes: Partial<Transfer> = {}): Transfer => ({
  network: NETWORK,
  transaction: '0x1',
  log: 0,
  from: PAYOUT,
  to: wallet(0),
  amount: '10000',
  at: NOON - DAY_MS,
  block: null,
  from_contract: null,
  ...changes,
})

/** What is known around payments to the seller of the samples, unless said otherwise: nothing. */
export const known = (
  transfers: readonly Transfer[] = [],
  changes: Partial<WashKnowledge> = {},
): WashKnowledge => ({
  wallets: [PAYOUT],
  transfers: indexTransfers(transfers),
  hasPaidOthers: () => false,
  windowOf: () => 0,
  ...changes,
})

export const wallet = (n: number) => `0x${(n + 0x1000).toString(16).padStart(40, '0')}`

/** What is left after the exclusions, and how many each flag left out. */
export function excludeWash(
  settlements: readonly Settlement[],
  knowledge: WashKnowledge,
): { independent: Settlement[]; flags: { flag: WashFlagId; settlements: number }[] } {
  const found = findWash(settlements, knowledge)
  const flagged = Map.groupBy(found.values(), (flag) => flag)
  return {
    independent: settlements.filter((one) => !found.has(one)),
    flags: WASH_FLAGS.flatMap((flag) => {
      const own = flagged.get(flag)
      return own === undefined ? [] : [{ flag, settlements: own.length }]
    }),
  }
}

/** What the seller of the samples is measured to have, where nobody knows who its buyers are. */
export function measureSeller(
  settlements: readonly Settlement[],
  transfers: readonly Transfer[] = [],
): Measured | undefined {
  const asOf = windowEnd(NOON)
  const networks = new Set([NETWORK, ...settlements.map(({ network }) => network)])
  const payees = [...networks].map((network) => ({
    payee: `${network}:${PAYOUT}`,
    owner: 'seller.example',
    proof: 'signature' as const,
    listings: ['x402.seller'],
  }))
  const payments = judgeSeen(settlements, {
    asOf,
    payees,
    transfers,
    hasPaidElsewhere: () => false,
  })
  const as_of = new Date(asOf).toISOString()
  const { listings } = scoreListings({ as_of, payments, payees, seeds: new Set() })
  return listings.get('x402.seller')?.measured
}
