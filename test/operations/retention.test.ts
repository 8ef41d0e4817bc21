import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { applyRetention } from '../../functions/clicks/retention.ts'
import { createUsage, readClickCounts } from '../../functions/clicks/usage.ts'
import {
  type Click,
  createStoreCounters,
  type Store,
  toDay,
  toHour,
} from '../../functions/store/store.ts'
import { RETENTION } from '../../src/domain/wire/vocabulary.ts'
import { describeStores, silentLog } from '../support/stores.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NOW = Date.UTC(2026, 10, 20, 12)

describeStores('keeping and forgetting', ({ newStore }) => {
  test('transfers between wallets are dropped once no rule looks back to them', async () => {
    const store = await newStore()
    const limit = NOW - RETENTION.transfer_days * DAY
    const row = { network: 'eip155:1', transaction_id: '0x1', sender: '0x2', receiver: '0x3' }
    const rest = { ...row, amount: '1', block_number: null, from_contract: null }
    await store.db
      .insertInto('wallet_transfer')
      .values([limit - 1, limit].map((sent_at, log_index) => ({ ...rest, log_index, sent_at })))
      .execute()
    await applyRetention(store, NOW)
    const left = await store.db.selectFrom('wallet_transfer').select('sent_at').execute()
    expect(left).toEqual([{ sent_at: limit }])
  })

  const clickAt = (moment: number, fields: Partial<Click> = {}): Click => ({
    hour: toHour(moment),
    listing_id: 'x402.a',
    sid: crypto.randomUUID(),
    pos: 1,
    src: 'web',
    bot: false,
    ...fields,
  })

  test('search ids leave after a day, single clicks become counts, and the sums stay the same', async () => {
    const store = await newStore()
    const old = NOW - (RETENTION.click_days + 2) * DAY
    await store.appendClicks([
      clickAt(NOW),
      clickAt(NOW - 25 * HOUR),
      clickAt(old),
      clickAt(old),
      clickAt(old, { src: null }),
      clickAt(old, { bot: true }),
      clickAt(old + DAY),
    ])
    const since = toDay(NOW) - 90
    const before = await readClickCounts(store, ['x402.a'], since)
    await applyRetention(store, NOW)
    expect(await readClickCounts(store, ['x402.a'], since)).toEqual(before)
    const singles = await store.db.selectFrom('click').select('sid').orderBy('hour').execute()
    expect(singles.map(({ sid }) => sid !== null)).toEqual([false, true])
    const folded = await store.db.selectFrom('click_day').selectAll().execute()
    expect(folded.reduce((sum, { clicks }) => sum + clicks, 0)).toBe(4)
    await store.appendClicks([clickAt(old)])
    await Promise.all([applyRetention(store, NOW), applyRetention(store, NOW)])
    const after = await readClickCounts(store, null, since)
    expect(after.reduce((sum, { clicks }) => sum + clicks, 0)).toBe(7)
  })

  test('PostgreSQL keeps clicks by month, and a month that is past goes as one', async () => {
    const store = await newStore()
    if (store.dialect === 'sqlite') return
    const monthsOf = async () => {
      const { rows } = await sql<{ part: string; rows: number }>`
        select tableoid::regclass::text as part, count(*) as rows from click group by 1 order by 1`.execute(
        store.db,
      )
      return rows
    }
    await applyRetention(store, NOW)
    const [january, march] = [Date.UTC(2027, 0, 5), Date.UTC(2027, 2, 20)]
    await store.appendClicks([clickAt(NOW), clickAt(january), clickAt(january + DAY)])
    expect(await monthsOf()).toEqual([
      { part: 'click_202701', rows: 2 },
      { part: 'click_other', rows: 1 },
    ])
    await applyRetention(store, march)
    const { rows } = await sql<{ name: string }>`select inhrelid::regclass::text as name
      from pg_inherits where inhparent = 'click'::regclass order by 1`.execute(store.db)
    const names = rows.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['click_202704', 'click_202705', 'click_other']))
    expect(names.filter((name) => name < 'click_202702')).toEqual([])
    expect(await readClickCounts(store, null, toDay(NOW))).toHaveLength(3)
  })

  test('counts are dropped after thirteen months, sessions and tokens when they expire', async () => {
    const store = await newStore()
    const { db } = store
    const day = toDay(NOW) - RETENTION.count_days - 1
    await db
      .insertInto('click_day')
      .values({ day, listing_id: 'x402.a', src: '', clicks: 3 })
      .execute()
    const seller = (id: string, created_at: number) => ({
      id,
      email: `${id}@b.example`,
      created_at,
    })
    const idle = NOW - (RETENTION.idle_seller_days + 1) * DAY
    await db
      .insertInto('seller')
      .values([seller('idle', idle), seller('active', idle), seller('new', NOW)])
      .execute()
    await db
      .insertInto('session')
      .values([
        { id_hash: 'old', seller_id: 'idle', created_at: idle, expires_at: NOW - 1 },
        { id_hash: 'live', seller_id: 'active', created_at: idle, expires_at: NOW + 1 },
      ])
      .execute()
    await db
      .insertInto('login_token')
      .values({ email: 'a@b.example', token_hash: 'h', created_at: 1, expires_at: NOW - 1 })
      .execute()
    await applyRetention(store, NOW)
    const left = async (table: 'click_day' | 'session' | 'login_token' | 'seller') =>
      (await db.selectFrom(table).selectAll().execute()).length
    expect(await left('click_day')).toBe(0)
    expect(await left('session')).toBe(1)
    expect(await left('login_token')).toBe(0)
    expect(await left('seller')).toBe(2)
  })

  test('what searches showed is counted in memory and added up in the store', async () => {
    const store = await newStore()
    const clock = { now: () => NOW }
    const one = createUsage(store, clock, silentLog)
    const two = createUsage(store, clock, silentLog)
    for (let n = 0; n < 1_500; n += 1) one.searched([`x402.n${n}`, 'x402.a'], 'api')
    two.searched(['x402.a'], 'web')
    two.searched(['x402.a'], 'api')
    await Promise.all([one.flush(), two.flush()])
    const rows = await store.db
      .selectFrom('usage_day')
      .selectAll()
      .where('listing_id', '=', 'x402.a')
      .orderBy('src')
      .execute()
    expect(rows).toEqual([
      { day: toDay(NOW), kind: 'impression', listing_id: 'x402.a', src: 'api', uses: 1_501 },
      { day: toDay(NOW), kind: 'impression', listing_id: 'x402.a', src: 'web', uses: 1 },
    ])
  })

  test('counting a search never asks the store; a thousand of them are one row a listing', async () => {
    const store = await newStore()
    let requested = 0
    const watched: Store = {
      ...store,
      get db() {
        requested += 1
        return store.db
      },
    }
    const usage = createUsage(watched, { now: () => NOW }, silentLog)
    const ids = Array.from({ length: 50 }, (_, n) => `x402.n${n}`)
    for (let n = 0; n < 1_000; n += 1) usage.searched(ids, 'api')
    expect(requested).toBe(0)
    await usage.flush()
    expect(requested).toBe(1)
    const rows = await store.db.selectFrom('usage_day').select('uses').execute()
    expect(rows).toEqual(ids.map(() => ({ uses: 1_000 })))
  })

  test('a limit in the store is exact under parallel tries, and ends with its window', async () => {
    const store = await newStore()
    let now = NOW
    const options = { name: 'check', requests: 10, seconds: 3600 } as const
    const counter = createStoreCounters(store, { now: () => now }, 60_000)(options)
    const tries = await Promise.all(Array.from({ length: 30 }, () => counter.count('claim')))
    expect(tries.map(({ used }) => used).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 30 }, (_, n) => n + 1),
    )
    expect((await counter.count('other')).used).toBe(1)
    expect(await Promise.all(['claim', 'never'].map(counter.peek))).toEqual([30, 0])
    now += HOUR
    expect(await counter.peek('claim')).toBe(0)
    expect((await counter.count('claim')).used).toBe(1)
    now -= 2 * DAY
    expect((await counter.count('claim')).used).toBe(1)
    const kept = await store.db.selectFrom('attempt').select('key').execute()
    expect(JSON.stringify(kept)).not.toContain('claim"')
  })
})
