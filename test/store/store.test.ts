import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { moveRows } from '../../functions/clicks/retention.ts'
import { addReport, findReport, listWaiting, settleReport } from '../../functions/feeds/reports.ts'
import { openStore } from '../../functions/store/open-store.ts'
import { isStoreUnavailable, isUniqueViolation } from '../../functions/store/store.ts'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import { describeBothStores, silentLog } from '../support/stores.ts'

const CLICK = {
  hour: 490_000,
  listing_id: 'x402.a',
  sid: null,
  pos: 3,
  src: 'api',
  bot: false,
} as const

describeBothStores('the store', ({ newPlace, newStore }) => {
  test('clicks come back as they were appended', async () => {
    const store = await newStore()
    const sid = crypto.randomUUID()
    await store.appendClicks([CLICK, { ...CLICK, sid, pos: null, src: null, bot: true }])
    const rows = await store.db.selectFrom('click').selectAll().orderBy('bot').execute()
    expect(rows).toEqual([
      { hour: 490_000, listing_id: 'x402.a', sid: null, pos: 3, src: 'api', bot: 0 },
      { hour: 490_000, listing_id: 'x402.a', sid, pos: null, src: null, bot: 1 },
    ])
  })

  test('a moment of today survives as the same number', async () => {
    const store = await newStore()
    const seller = { id: 's', email: 'a@b.example', created_at: 1_795_171_200_123 }
    await store.db.insertInto('seller').values(seller).execute()
    expect(await store.db.selectFrom('seller').selectAll().execute()).toMatchObject([seller])
  })

  test('a click is never acknowledged inside a transaction that rolls back', async () => {
    const store = await newStore()
    let acknowledged = false
    const failing = store.db.transaction().execute(async (trx) => {
      await trx.insertInto('seller').values({ id: 's', email: 'e', created_at: 1 }).execute()
      void store.appendClicks([CLICK]).then(() => {
        acknowledged = true
      })
      await new Promise((resolve) => setTimeout(resolve, 30))
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    await expect.poll(() => acknowledged).toBe(true)
    expect(await store.db.selectFrom('seller').selectAll().execute()).toEqual([])
    expect(await store.db.selectFrom('click').selectAll().execute()).toHaveLength(1)
  })

  test('two sellers cannot share an address', async () => {
    const store = await newStore()
    const insert = (id: string) =>
      store.db.insertInto('seller').values({ id, email: 'a@b.example', created_at: 1 }).execute()
    await insert('one')
    const error = await insert('two').catch((thrown: unknown) => thrown)
    expect(isUniqueViolation(error)).toBe(true)
    expect(isStoreUnavailable(error)).toBe(false)
  })

  test('one listing cannot hold two verified claims', async () => {
    const store = await newStore()
    await store.db.insertInto('seller').values({ id: 's', email: 'e', created_at: 1 }).execute()
    const claim = (id: string, state: 'pending' | 'verified') =>
      store.db
        .insertInto('claim')
        .values({
          id,
          state,
          token: id,
          listing_id: 'x402.a',
          seller_id: 's',
          host: 'a.example',
          method: 'dns_txt',
          created_at: 1,
          expires_at: 2,
        })
        .execute()
    await claim('1', 'verified')
    await claim('2', 'pending')
    expect(isUniqueViolation(await claim('3', 'verified').catch((e: unknown) => e))).toBe(true)
  })

  test('a report of an address waits once, and its decision forgets who asked', async () => {
    const store = await newStore()
    const add = async (path: string, text = '') => {
      const subject = { url: `https://a.example/${path}`, listing_id: null, receipt: null }
      const sender = { email: 'a@b.example', isOwners: false, now: 1_795_171_200_123 }
      const stated = { kind: 'new' as const, text, links: [] }
      const added = await addReport(store, stated, subject, sender)
      return 'full' in added ? added : added.report.id
    }
    const first = String(await add('x'))
    expect(await add('x', 'Other words.')).toBe(first)
    for (let i = 0; i < 4; i += 1) await add(String(i))
    expect(await add('y')).toEqual({ full: 'subject' })
    const refusal = { state: 'refused', reason: 'a copy' } as const
    expect(await settleReport(store, first, refusal, 1_795_171_200_124)).toBe(true)
    expect(await settleReport(store, first, refusal, 1_795_171_200_125)).toBe(false)
    expect(await findReport(store, first)).toMatchObject({ ...refusal, email: null })
    expect(await listWaiting(store)).toHaveLength(4)
    // What was refused is not asked again by the same words, and is by others.
    expect(await add('x')).toBe(first)
    expect(await add('x', 'It has prices now.')).not.toBe(first)
  })

  test('what is known of a listing that moved goes to where it ended, once', async () => {
    const { db, appendClicks } = await newStore()
    await appendClicks([CLICK])
    const clicks = [
      { src: 'api', clicks: 2 },
      { src: 'web', clicks: 1 },
    ] as const
    for (const row of clicks)
      await db
        .insertInto('click_day')
        .values({ ...row, listing_id: 'x402.a', day: 9 })
        .execute()
    await db
      .insertInto('click_day')
      .values({ listing_id: 'x402.c', day: 9, src: 'api', clicks: 5 })
      .execute()
    await db
      .insertInto('seller')
      .values({ id: 'ann', email: 'a@b.example', created_at: 1 })
      .execute()
    const claim = {
      seller_id: 'ann',
      host: 'a.example',
      method: 'well_known',
      state: 'verified',
      created_at: 1,
      expires_at: 2,
    } as const
    for (const id of ['x402.a', 'x402.c', 'x402.d'])
      await db
        .insertInto('claim')
        .values({ ...claim, id, token: id, listing_id: id })
        .execute()
    await db
      .insertInto('payout_proof')
      .values({ claim_id: 'x402.a', payout: 'p', proven_at: 1 })
      .execute()
    await db
      .insertInto('opt_out')
      .values({ listing_id: 'x402.d', host: 'a.example', created_at: 1 })
      .execute()
    const moves = new Map([
      ['x402.a', 'x402.b'],
      ['x402.b', 'x402.c'],
      ['x402.d', 'x402.e'],
      ['x402.f', 'x402.nobody'],
    ])
    for (let run = 0; run < 2; run += 1) {
      await moveRows(db, moves, (id) => id !== 'x402.nobody')
      expect(await db.selectFrom('click').select('listing_id').execute()).toEqual([
        { listing_id: 'x402.c' },
      ])
      expect(
        await db
          .selectFrom('click_day')
          .select(['listing_id', 'src', 'clicks'])
          .orderBy('src')
          .execute(),
      ).toEqual([
        { listing_id: 'x402.c', src: 'api', clicks: 7 },
        { listing_id: 'x402.c', src: 'web', clicks: 1 },
      ])
      // The owner of both keeps both claims, and the payouts count where the listing is.
      expect(
        await db.selectFrom('claim').select(['id', 'listing_id']).orderBy('id').execute(),
      ).toEqual([
        { id: 'x402.a', listing_id: 'x402.a' },
        { id: 'x402.c', listing_id: 'x402.c' },
        { id: 'x402.d', listing_id: 'x402.e' },
      ])
      expect(await db.selectFrom('payout_proof').select('claim_id').execute()).toEqual([
        { claim_id: 'x402.c' },
      ])
      expect(await db.selectFrom('opt_out').select('listing_id').execute()).toEqual([
        { listing_id: 'x402.e' },
      ])
    }
  })

  test('five instances that start at once migrate once, and nothing already there is touched', async () => {
    const { config, dialect } = await newPlace()
    const lines: string[] = []
    const log = { ...silentLog, info: (event: string) => void lines.push(event) }
    const stores = await Promise.all(Array.from({ length: 5 }, () => openStore(config, log)))
    expect(lines).toEqual(['store.migrated'])
    await stores[0]?.appendClicks([CLICK])
    const late = await openStore(config, log)
    expect(await late.db.selectFrom('click').selectAll().execute()).toHaveLength(1)
    expect(lines).toHaveLength(1)
    expect(late.dialect).toBe(dialect)
    for (const store of [...stores, late]) await store.close()
  })

  test.each([
    ['0001-baseline', /an earlier version of Waypost \(0001-baseline\)/],
    ['0001-clicks', /an earlier version of Waypost \(0001-clicks\)/],
    ['0002-later', /a later version of Waypost migrated this ledger \(0002-later\)/i],
  ])('a ledger with %s is refused by its name, and left as it was', async (name, says) => {
    const { config } = await newPlace()
    const store = await openStore(config, silentLog)
    await store.appendClicks([CLICK])
    const migration = { name, timestamp: new Date().toISOString() }
    await (name < '0001-tables'
      ? sql`update kysely_migration set name = ${name}`.execute(store.db)
      : sql`insert into kysely_migration (name, timestamp)
          values (${migration.name}, ${migration.timestamp})`.execute(store.db))
    await store.close()
    const refused = await openStore(config, silentLog).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(OperatorError)
    expect(String(refused)).toMatch(says)
    await expect(openStore(config, silentLog)).rejects.toThrow(OperatorError)
  })

  test('a closed store says it is unavailable', async () => {
    const { config } = await newPlace()
    const store = await openStore(config, silentLog)
    await store.close()
    for (const wait of [0, 50]) {
      await new Promise((resolve) => setTimeout(resolve, wait))
      const error = await store.ping().catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(Error)
      expect(isStoreUnavailable(error)).toBe(true)
    }
  })
})
