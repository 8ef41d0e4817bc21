import * as v from 'valibot'
import type { Store } from '../../functions/store/store.ts'
import { COUNTED_SCHEMES } from '../../src/domain/trust/payments.ts'

/** What was paid in the demonstration, and what is disputed there; times are ages, as in the rest. */
const count = v.pipe(v.number(), v.integer(), v.minValue(0))

export const DemoPaymentsSchema = v.array(
  v.strictObject({
    listing_id: v.string(),
    payee: v.pipe(v.string(), v.regex(/^0x[0-9a-f]{40}$/)),
    /** Buyers are wallets by number: the same number at two listings is the same wallet. */
    first_buyer: count,
    buyers: count,
    payments_each: count,
    usd: v.number(),
    scheme: v.picklist(COUNTED_SCHEMES),
  }),
)
export const DemoDisputesSchema = v.array(
  v.strictObject({
    listing_id: v.string(),
    text: v.string(),
    links: v.array(v.string()),
    state: v.picklist(['waiting', 'accepted', 'refused']),
    reason: v.nullable(v.string()),
    days_ago: count,
  }),
)

const DAY = 86_400_000
const BASE = 'eip155:8453'
const TEMPO = 'eip155:4217'
/** Days over which the payments are spread, ending yesterday. */
const SPREAD_DAYS = 24

export async function insertPayments(
  trx: Store['db'],
  sales: v.InferOutput<typeof DemoPaymentsSchema>,
  now: number,
): Promise<void> {
  const rows = sales.flatMap((sale, place) => {
    const all = sale.buyers * sale.payments_each
    const micros = Math.round(sale.usd * 1_000_000)
    return Array.from({ length: all }, (_, n) => ({
      network: sale.scheme.startsWith('tempo_') ? TEMPO : BASE,
      transaction_id: toHex(place * 100_000 + n + 1, 64),
      log_index: 0,
      listing_id: sale.listing_id,
      payer: toHex(sale.first_buyer + (n % sale.buyers) + 1, 40),
      payee: sale.payee,
      amount: String(micros),
      micro_usd: micros,
      // Nearly even, as sales are: each a little off its place.
      settled_at: now - DAY - Math.round(((n + ((n * 7) % 5) / 5) * SPREAD_DAYS * DAY) / all),
      block_number: null,
      scheme: sale.scheme,
    }))
  })
  if (rows.length > 0) await trx.insertInto('settlement').values(rows).execute()
}

export async function insertDisputes(
  trx: Store['db'],
  disputes: v.InferOutput<typeof DemoDisputesSchema>,
  now: number,
): Promise<void> {
  const rows = disputes.map(({ days_ago, links, ...dispute }, place) => ({
    ...dispute,
    ...{ id: `r${String(place + 1).padStart(18, '0')}`, kind: 'dispute' as const },
    links: JSON.stringify(links),
    created_at: now - days_ago * DAY,
    settled_at: dispute.state === 'waiting' ? null : now - (days_ago - 1) * DAY,
  }))
  if (rows.length > 0) await trx.insertInto('report').values(rows).execute()
}

function toHex(value: number, length: number): string {
  return `0x${value.toString(16).padStart(length, '0')}`
}
