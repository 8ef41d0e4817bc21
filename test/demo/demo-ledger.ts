import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import type { Config } from '../../functions/ports/config.ts'
import type { Log } from '../../functions/ports/log.ts'
import { openStore } from '../../functions/store/open-store.ts'
import { USAGE_KINDS } from '../../functions/store/schema.ts'
import { lockState } from '../../functions/store/sqlite.ts'
import { type Store, toDay } from '../../functions/store/store.ts'
import { CLAIM_METHODS, CLAIM_STATES, CLICK_SOURCES } from '../../src/domain/wire/vocabulary.ts'
import {
  DemoDisputesSchema,
  DemoPaymentsSchema,
  insertDisputes,
  insertPayments,
} from './demo-payments.ts'

/**
 * What sellers of the demonstration did: `ledger.json` beside its content. Times in it are ages, so
 * that the last thirty days are always the last thirty days.
 */
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const LedgerSchema = v.strictObject({
  sellers: v.array(v.string()),
  claims: v.array(
    v.strictObject({
      listing_id: v.string(),
      host: v.string(),
      seller: v.string(),
      method: v.picklist(CLAIM_METHODS),
      state: v.picklist(CLAIM_STATES),
      days_ago: count,
      last_check: v.optional(
        v.strictObject({
          verified: v.boolean(),
          method: v.picklist(CLAIM_METHODS),
          hours_ago: count,
          expected: v.string(),
          observed: v.nullable(v.string()),
          reason: v.nullable(v.string()),
          next: v.string(),
        }),
      ),
      /** Payouts, CAIP-10. */
      proven: v.optional(v.array(v.string()), []),
    }),
  ),
  removed: v.array(v.strictObject({ listing_id: v.string(), host: v.string() })),
  /** Clicks by listing and source, today first. */
  clicks: v.record(v.string(), v.record(v.picklist(CLICK_SOURCES), v.array(count))),
  /** Of ninety days. */
  uses: v.record(v.string(), v.record(v.picklist(USAGE_KINDS), count)),
  payments: DemoPaymentsSchema,
  disputes: DemoDisputesSchema,
})
type DemoLedger = v.InferOutput<typeof LedgerSchema>

const HOUR = 3_600_000
const DAY = 24 * HOUR
const CLAIM_HOURS = 72

/** Puts the ledger of the demonstration back to where it begins; who is signed in stays so. */
export async function resetDemoLedger(
  config: Pick<Config, 'CONTENT_DIR' | 'STATE_DIR' | 'DATABASE_URL'>,
  log: Log,
  now: number,
): Promise<void> {
  const text = readFileSync(join(config.CONTENT_DIR, 'ledger.json'), 'utf8')
  const ledger = v.parse(LedgerSchema, JSON.parse(text))
  const lock = await lockState(config.STATE_DIR)
  const store = await openStore(config, log)
  try {
    await store.db.transaction().execute(async (trx) => {
      for (const table of EMPTIED) await trx.deleteFrom(table).execute()
      await insertClaims(trx, ledger, now)
      await insertNumbers(trx, ledger, toDay(now))
      await insertPayments(trx, ledger.payments, now)
      await insertDisputes(trx, ledger.disputes, now)
    })
  } finally {
    await store.close()
    lock.release()
  }
}

const EMPTIED = [
  'payout_proof',
  'claim',
  'opt_out',
  'click_day',
  'usage_day',
  'settlement',
  'report',
] as const

async function insertClaims(trx: Store['db'], ledger: DemoLedger, now: number): Promise<void> {
  const sellers = ledger.sellers.map((email) => ({ id: email, email, created_at: now - 90 * DAY }))
  await trx
    .insertInto('seller')
    .values(sellers)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  // Who signed in before the ledger was filled has an id of their own.
  const known = await trx.selectFrom('seller').select(['id', 'email']).execute()
  const idOf = new Map(known.map(({ id, email }) => [email, id]))
  for (const [index, claim] of ledger.claims.entries()) {
    const { listing_id, host, seller, method, state, days_ago, last_check, proven } = claim
    const id = `demo-claim-${index + 1}`
    const created_at = now - days_ago * DAY
    const checked_at = last_check === undefined ? null : now - last_check.hours_ago * HOUR
    await trx
      .insertInto('claim')
      .values({
        ...{ id, listing_id, host, method, state, created_at },
        seller_id: idOf.get(seller) ?? seller,
        token: `demo-token-${index + 1}`,
        expires_at: created_at + CLAIM_HOURS * HOUR,
        verified_at: state === 'pending' || state === 'expired' ? null : created_at + HOUR,
        last_checked_at: checked_at,
        failing_since: state === 'verified' && last_check?.verified === false ? checked_at : null,
        last_check: checked_at === null ? null : toKeptCheck(claim, checked_at),
      })
      .execute()
    for (const payout of proven)
      await trx
        .insertInto('payout_proof')
        .values({ claim_id: id, payout, proven_at: created_at + DAY })
        .execute()
  }
}

function toKeptCheck({ last_check }: DemoLedger['claims'][number], checkedAt: number): string {
  const { hours_ago, ...result } = last_check ?? {}
  return JSON.stringify({ ...result, checked_at: new Date(checkedAt).toISOString() })
}

const USE_DAYS = 90

/** Even shares of a number, today first, which add up to it. */
function spread(all: number): number[] {
  const until = (days: number) => Math.floor((all * days) / USE_DAYS)
  return Array.from({ length: USE_DAYS }, (_, age) => until(age + 1) - until(age))
}

async function insertNumbers(
  trx: Store['db'],
  { clicks, uses, removed }: DemoLedger,
  today: number,
): Promise<void> {
  const clickRows = Object.entries(clicks).flatMap(([listing_id, bySource]) =>
    CLICK_SOURCES.flatMap((src) =>
      (bySource[src] ?? []).map((count, age) => ({
        listing_id,
        src,
        day: today - age,
        clicks: count,
      })),
    ),
  )
  const useRows = Object.entries(uses).flatMap(([listing_id, byKind]) =>
    USAGE_KINDS.flatMap((kind) =>
      spread(byKind[kind] ?? 0).map((uses, age) => ({
        ...{ listing_id, kind, day: today - age, uses },
        src: 'api' as const,
      })),
    ),
  )
  await trx.insertInto('click_day').values(clickRows).execute()
  await trx.insertInto('usage_day').values(useRows).execute()
  await trx
    .insertInto('opt_out')
    .values(removed.map((row) => ({ ...row, created_at: today * DAY })))
    .execute()
}
