import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openStore } from '../../functions/store/open-store.ts'
import { describeStores, silentLog } from '../support/stores.ts'

describeStores('a ledger that has receipts already', ({ newPlace }) => {
  test('gets room for what payers signed, in both tables, and loses an index', async () => {
    const { config } = await newPlace()
    const earlier = await openStore(config, silentLog)
    for (const statement of [
      'alter table receipt drop column authorization_hash',
      'alter table settlement drop column authorization_hash',
      'create index receipt_time on receipt (called_at)',
      "delete from kysely_migration where name >= '0013'",
    ])
      await sql.raw(statement).execute(earlier.db)
    await earlier.close()
    await using store = await openStore(config, silentLog)
    for (const table of ['receipt', 'settlement'] as const)
      expect(await store.db.selectFrom(table).select('authorization_hash').execute()).toEqual([])
    // What nobody reads by is gone: it can be made anew.
    await sql`create index receipt_time on receipt (called_at)`.execute(store.db)
  })
})
