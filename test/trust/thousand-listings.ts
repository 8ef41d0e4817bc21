import type { LedgerPayee, LedgerPayment } from '../../src/domain/trust/ledger-facts.ts'
import { IS_LONG } from '../support/long.ts'
import { createRandom } from '../support/random.ts'

const NETWORKS = ['eip155:8453', 'eip155:137']
const SEEDS = ['one', 'two', 'three', 'four']
const SELLERS = IS_LONG ? 990 : 240
const PAYMENTS = IS_LONG ? 24_000 : 6_000
export const AS_OF = Date.UTC(2026, 10, 23) - 1
const DAY_MS = 86_400_000
const COIN = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'

/**
 * A published ledger of a thousand listings, or of a quarter in `npm test`: buyers on two chains, sellers with several listings on one payee,
 * dust and large payments, payments that do not count, and some at the very ends of the window.
 */
export function createThousand(seed: number) {
  const random = createRandom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const payees = [...SEEDS, ...Array.from({ length: SELLERS }, (_, n) => `shop-${n}`)].map(
    (name, n): LedgerPayee => ({
      payee: `${NETWORKS[n % 2]}:${address(n)}`,
      owner: `${name}.example`,
      proof: n % 3 === 0 ? 'signature' : 'published',
      listings: Array.from({ length: n % 50 === 7 ? 3 : 1 }, (_, place) => `x402.${name}-${place}`),
    }),
  )
  const pay = (payer: number, at: LedgerPayee, n: number): LedgerPayment => {
    const usd_micro = Math.max(1, Math.floor(10 ** (2 + 5.2 * random())))
    const edge = [0, 30 * DAY_MS - 1, 30 * DAY_MS, -1]
    const ago = n % 97 < edge.length ? (edge[n % 97] ?? 0) : below(70 * DAY_MS)
    const isNamed = at.listings.length > 1 && below(3) === 0
    return {
      network: NETWORKS.find((network) => at.payee.startsWith(network)) ?? '',
      transaction: `0x${n.toString(16).padStart(64, '0')}`,
      log: below(200),
      at: AS_OF - ago,
      asset: COIN,
      amount: String(usd_micro),
      usd_micro,
      payer: address(100_000 + payer),
      payee: at.payee.slice(at.payee.lastIndexOf(':') + 1),
      scheme: 'eip3009',
      listings: isNamed ? [at.listings[below(at.listings.length)] ?? ''] : at.listings,
      verdict: below(12) === 0 ? 'round_trip' : 'counted',
    }
  }
  const payments = Array.from({ length: PAYMENTS }, (_, n) => {
    const place = below(4) === 0 ? below(SEEDS.length) : below(payees.length)
    const payee = payees[place] ?? payees[0]
    return payee === undefined ? [] : [pay(below(PAYMENTS / 16), payee, n)]
  }).flat()
  const seeds = SEEDS.map((name) => `${name}.example`)
  return { as_of: new Date(AS_OF).toISOString(), seeds, payees, payments }
}

function address(n: number): string {
  return `0x${n.toString(16).padStart(40, '0')}`
}
