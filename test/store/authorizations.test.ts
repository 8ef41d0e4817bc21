import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { readReceipt } from '../../functions/receipts/log/read-receipts.ts'
import { createSigners } from '../../functions/receipts/log/receipt-keys.ts'
import { appendReceipts, toLeafHash } from '../../functions/receipts/log/receipt-log.ts'
import { findReceipt, toReceiptId } from '../../functions/receipts/log/receipt-pages.ts'
import { openStore } from '../../functions/store/open-store.ts'
import { toCanonicalJson } from '../../src/domain/wire/canonical-json.ts'
import { aReceipt } from '../receipts/receipt-samples.ts'
import { describeStores, silentLog } from '../support/stores.ts'
import { BEFORE_MAILS, BEFORE_REPORTS } from './former-tables.ts'

/** The table of receipts as the version before had it. */
const BEFORE = [
  ...BEFORE_REPORTS,
  ...BEFORE_MAILS,
  'alter table dispute add column receipt text',
  'drop table receipt_page',
  `create table receipt (position bigint not null primary key, id text not null unique, listing_id text not null,
    call text not null, called_at bigint not null, payment text, body text not null)`,
  'create index receipt_listing on receipt (listing_id, called_at)',
  'create index receipt_time on receipt (called_at)',
  'alter table settlement drop column authorization_hash',
  "delete from kysely_migration where name >= '0013'",
]

describeStores('a ledger that has receipts already', ({ newPlace }) => {
  test('keeps each of them, in the order of their log, and gets room for what payers signed', async () => {
    const { config } = await newPlace()
    const earlier = await openStore(config, silentLog)
    const all = Array.from({ length: 200 }, (_, n) => aReceipt(n * 1000))
    await appendReceipts(earlier, all)
    for (const statement of BEFORE) await sql.raw(statement).execute(earlier.db)
    for (const [position, { receipt, call }] of all.entries())
      await sql`insert into receipt values (${position}, ${receipt.id}, ${receipt.listing_id}, ${call},
        ${Date.parse(receipt.at)}, ${position === 7 ? 'ab'.repeat(32) : null}, ${toCanonicalJson(receipt)})`.execute(
        earlier.db,
      )
    await earlier.close()
    await using store = await openStore(config, silentLog)
    expect(await store.db.selectFrom('settlement').select('authorization_hash').execute()).toEqual(
      [],
    )
    const signer = await createSigners(store, { now: Date.now })()
    for (const [position, { receipt }] of all.entries())
      expect(await readReceipt(store, receipt.id, signer)).toMatchObject({ receipt, position })
    const { payment, authorization } = (await findReceipt(store, all[7]?.receipt.id ?? '')) ?? {}
    expect([payment, authorization]).toEqual(['ab'.repeat(32), null])
    expect(await findReceipt(store, toReceiptId(Date.now(), randomBytes(16)))).toBeNull()
    expect(toLeafHash('{}')).toHaveLength(32)
  })
})
