import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readLedgerFacts } from '../../functions/analytics/ledger-facts.ts'
import { RECEIPT_TABLES } from '../../functions/store/migrations/receipt-tables.ts'
import { createMigrator, openPostgresStore, openStore } from '../../functions/store/open-store.ts'
import type { Store } from '../../functions/store/schema/store.ts'
import { SQLITE_FILE } from '../../functions/store/sqlite/ledger-file.ts'
import { readContent } from '../../src/content/read.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { describeStores, type StorePlace, silentLog } from '../support/stores.ts'
import { BEFORE_MAILS, BEFORE_REPORTS } from './former-tables.ts'

/**
 * The ledger of the version before, dumped as SQL with rows in nearly every table: sign-in, claims, an
 * opt-out, clicks and queued settlements came about through routes. Content as version 616badb wrote it.
 */
const EARLIER = 'test/fixtures/earlier'
const statements = readFileSync(join(EARLIER, 'ledger.sql'), 'utf8').split(/;\n/).filter(Boolean)
const inserts = statements.filter((statement) => /^INSERT INTO "(?!kysely_)/.test(statement))

/** What makes PostgreSQL's tables of today those of the version before. */
const BACK = [
  "delete from kysely_migration where name > '0009'",
  ...BEFORE_MAILS,
  'drop table payment_hint',
  ...BEFORE_REPORTS,
  'alter table settlement drop column authorization_hash',
  ...Object.keys(RECEIPT_TABLES).map((name) => `drop table ${name}`),
  "alter table settlement add column seen_by text not null default 'relay'",
  `create table settlement_check (id text not null primary key, listing_id text not null,
    claim text not null, payouts text not null, state text not null, reason text,
    created_at bigint not null, not_before bigint not null, lease_until bigint not null,
    attempts integer not null, payment text not null default '', called_at bigint not null default 0,
    answered_at bigint not null default 0)`,
]
/** What only the relay saw is read again, and its queue is no more; the rest of these are reports now, and watches and channels are gone. */
const LEFT_OUT = [
  'settlement',
  'settlement_check',
  'proposal',
  'dispute',
  'delivery',
  'watch',
  'watch_turn',
  'channel_event',
]

type Row = Record<string, unknown>

/** Puts the ledger where a server of today will find it. */
async function restore(place: StorePlace): Promise<void> {
  if (place.dialect === 'sqlite') return execute(place, statements)
  const store = openPostgresStore(place.config.DATABASE_URL ?? '', silentLog)
  const { error } = await createMigrator(store).migrateToLatest()
  expect(error).toBeUndefined()
  await store.close()
  await execute(place, [...BACK, ...inserts])
}

/** Statements on the tables as they are, without a migration. */
async function execute({ dialect, config }: StorePlace, all: readonly string[]): Promise<void> {
  if (dialect === 'sqlite') {
    const file = new DatabaseSync(join(config.STATE_DIR, SQLITE_FILE))
    file.exec(all.join(';\n'))
    return file.close()
  }
  const store = openPostgresStore(config.DATABASE_URL ?? '', silentLog)
  for (const statement of all) await sql.raw(statement).execute(store.db)
  await store.close()
}

describeStores('a ledger of the version before', ({ newPlace, newStore }) => {
  const open = async () => {
    const place = await newPlace()
    await restore(place)
    return openStore(place.config, silentLog)
  }

  test('opens, and every row that is read is there with every value it had', async () => {
    const store = await open()
    const rowsOf = async (table: string) => {
      const { rows } = await sql<Row>`select * from ${sql.table(table)}`.execute(store.db)
      return rows
    }
    for (const insert of inserts) {
      const [, table = '', columns = '', values = ''] =
        /^INSERT INTO "(\w+)" \((.*?)\) VALUES \((.*)\)$/s.exec(insert) ?? []
      if (LEFT_OUT.includes(table)) continue
      const names = columns.split(', ').map((name) => name.slice(1, -1))
      const cells = splitValues(values)
      expect(cells).toHaveLength(names.length)
      const row = Object.fromEntries(names.map((name, n) => [name, cells[n]]))
      expect(await rowsOf(table), table).toContainEqual(expect.objectContaining(row))
    }
    await store.close()
  })

  test('keeps payments that the meter saw, for whoever owns their payee, and none that the relay alone saw', async () => {
    const place = await newPlace()
    await restore(place)
    const settled = (id: string, seenBy: string) =>
      `INSERT INTO "settlement" ("network", "transaction_id", "log_index", "listing_id", "payer", "payee",
        "amount", "micro_usd", "settled_at", "block_number", "seen_by", "scheme")
        VALUES ('eip155:8453', '${id}', 1, 'x402.weather', '0xa', '0xb', '1', 1, 1, 1, '${seenBy}', NULL)`
    await execute(place, [
      settled('one', 'relay'),
      settled('two', 'meter'),
      settled('three', 'both'),
    ])
    const store = await openStore(place.config, silentLog)
    const rows = await store.db
      .selectFrom('settlement')
      .select(['transaction_id', 'listing_id'])
      .orderBy('transaction_id')
      .execute()
    expect(rows).toEqual([
      { transaction_id: 'three', listing_id: 'x402.weather' },
      { transaction_id: 'two', listing_id: '' },
    ])
    await store.close()
  })

  test('keeps proposals, corrections and disputes as reports', async () => {
    const place = await newPlace()
    await restore(place)
    const proposed = (id: string, about: string, found: string, state: string) =>
      `INSERT INTO "proposal" VALUES ('${id}', 'https://${id}.example/', 'https://${id}.example', 'Words.',
        NULL, '${found}', NULL, '${state}', NULL, ${about}, 1795324426300, NULL)`
    await execute(place, [
      proposed('listed', "'api.listed'", '{"saw":"status 200","files":{}}', 'accepted'),
      proposed('mended', "'api.mended'", '{"saw":"","files":{}}', 'accepted'),
      proposed('correction', "'mcp.maps'", '{"saw":"","files":{}}', 'waiting'),
      `INSERT INTO "dispute" VALUES ('d-held', 'mcp.maps', 'It answers with nothing.', '[]', 'accepted',
        'We saw it.', 1795324426300, 1795324426400)`,
    ])
    const store = await openStore(place.config, silentLog)
    const rows = await store.db.selectFrom('report').selectAll().orderBy('id').execute()
    const blank = {
      ...{ url: null, host: null, listing_id: null, receipt: null, links: '[]', email: null },
      ...{ reason: null, created_at: 1_795_324_426_300, settled_at: null },
    }
    const words = { ...blank, text: 'Words.' }
    const ofNew = (id: string) => ({ url: `https://${id}.example/`, host: `${id}.example` })
    expect(rows.filter(({ id }) => !id.endsWith('-waiting'))).toEqual([
      { ...words, id: 'correction', kind: 'wrong', listing_id: 'mcp.maps', state: 'waiting' },
      {
        ...{ ...blank, id: 'd-held', kind: 'dispute', listing_id: 'mcp.maps', state: 'accepted' },
        ...{
          text: 'It answers with nothing.',
          reason: 'We saw it.',
          settled_at: 1_795_324_426_400,
        },
      },
      {
        ...{ ...words, ...ofNew('listed'), id: 'listed', kind: 'new', listing_id: 'api.listed' },
        state: 'accepted',
      },
      { ...words, id: 'mended', kind: 'wrong', listing_id: 'api.mended', state: 'accepted' },
    ])
    expect(rows.filter(({ id }) => id.endsWith('-waiting'))).toMatchObject([
      { id: 'd-waiting', kind: 'dispute', text: 'wrong_price', state: 'waiting' },
      {
        ...{ id: 'p-waiting', kind: 'new', url: 'https://maps.example/mcp', host: 'maps.example' },
        ...{ text: "It's new; no key", email: 'bob@maps.example', state: 'waiting' },
      },
    ])
    const { disputes } = await readLedgerFacts(store, 1_795_324_500_000)
    expect(disputes.get('mcp.maps')).toEqual([{ at: 1_795_324_426_400, note: 'We saw it.' }])
    await store.close()
  })

  test('says to the next build what it said before, with the hosts that were proved', async () => {
    const store = await open()
    const facts = await readLedgerFacts(store, 1_795_324_500_000)
    expect(facts.claimed).toEqual(
      new Map([
        ['x402.weather', 'api.weather.example'],
        ['api.gone', 'gone.example'],
      ]),
    )
    expect(facts.optedOut).toEqual(new Map([['api.gone', 'gone.example']]))
    expect(facts.demand.get('x402.weather')).toEqual({ all: 4, outside: 3 })
    await store.close()
  })

  test('gets the tables and indexes of a new ledger', async () => {
    const [earlier, fresh] = [await open(), await newStore()]
    const shape = await readShape(fresh)
    expect(shape.tables).toContainEqual(expect.objectContaining({ name: 'probe_evidence' }))
    expect(shape.indexes.length).toBeGreaterThan(12)
    expect(await readShape(earlier)).toEqual(shape)
    await earlier.close()
  })

  test('of a version that was never released is refused, and left as it was', async () => {
    const { config } = await newPlace()
    const store = await openStore(config, silentLog)
    await sql`delete from kysely_migration where name > '0003'`.execute(store.db)
    await store.close()
    const refused = await openStore(config, silentLog).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(OperatorError)
    expect(String(refused)).toContain('never released')
  })

  test('that another version migrated is refused by the name of what is unknown, and left as it was', async () => {
    const { config } = await newPlace()
    const store = await openStore(config, silentLog)
    await sql`update kysely_migration set name = '0001-clicks' where name = '0001-baseline'`.execute(
      store.db,
    )
    await store.close()
    const refused = await openStore(config, silentLog).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(OperatorError)
    expect(String(refused)).toMatch(
      /another version of Waypost migrated this ledger \(0001-clicks\)/i,
    )
  })
})

/** Tables with their columns, and what the indexes are on, as the database itself says. */
async function readShape({ db, dialect }: Store) {
  const { rows } = await (dialect === 'sqlite'
    ? sql<{
        made: string
      }>`select sql as made from sqlite_master where type = 'index' and sql <> ''`
    : sql<{ made: string }>`select indexdef as made from pg_indexes where schemaname = 'public'`
  ).execute(db)
  const indexes = rows.map(({ made }) => made.replace(/index \S+ on/i, '').replaceAll('"', ''))
  return { tables: await db.introspection.getTables(), indexes: indexes.sort() }
}

/** The cells of a recorded row: texts in quotes, numbers, NULL. */
function splitValues(text: string): (string | number | null)[] {
  return [...text.matchAll(/'((?:[^']|'')*)'|NULL|-?\d+/g)].map(([cell, quoted]) => {
    if (quoted !== undefined) return quoted.replaceAll("''", "'")
    return cell === 'NULL' ? null : Number(cell)
  })
}

describe('content of the version before', () => {
  const contentDir = join(EARLIER, 'content')
  const { content, faults } = readContent(contentDir, { allowPrivate: false })

  test('reads without an error', () => {
    expect(faults.filter(({ severity }) => severity === 'error')).toEqual([])
  })

  test('keeps everything people wrote', () => {
    const files = readdirSync(join(contentDir, 'listings'), { recursive: true, encoding: 'utf8' })
    const written = files.filter((file) => file.endsWith('.md'))
    expect(content?.listings).toHaveLength(written.length)
    for (const file of written) {
      const [, front] = readFileSync(join(contentDir, 'listings', file), 'utf8').split(/^---$/m)
      const listing = content?.listings.find((one) => one.file === `listings/${file}`)
      expect(listing?.facts, file).toMatchObject(parse(front ?? ''))
    }
  })

  test('keeps everything machines wrote', () => {
    for (const { id } of content?.listings ?? []) {
      const file = join(contentDir, 'evidence', `${id.replace('.', '/')}.json`)
      if (!existsSync(file)) continue
      expect(content?.evidence.get(id), file).toMatchObject(JSON.parse(readFileSync(file, 'utf8')))
    }
  })
})
