import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readLedgerFacts } from '../../functions/analytics/ledger-facts.ts'
import { createMigrator } from '../../functions/store/migrate.ts'
import { openStore } from '../../functions/store/open-store.ts'
import { openPostgresStore } from '../../functions/store/postgres-store.ts'
import { SQLITE_FILE } from '../../functions/store/sqlite/store.ts'
import { readContent } from '../../src/compile/content/read-content.ts'
import { describeStores, type StorePlace, silentLog } from '../support/stores.ts'

/**
 * A ledger and content as version 616badb wrote them: the ledger came about through its own routes
 * (sign-in, claims, an opt-out, clicks, queued settlements), dumped as SQL.
 */
const EARLIER = 'test/fixtures/earlier'
const LAST_MIGRATION = '0011-attempts'
const statements = readFileSync(join(EARLIER, 'ledger.sql'), 'utf8').split(/;\n/).filter(Boolean)
const inserts = statements.filter(
  (statement) => statement.startsWith('INSERT') && !statement.includes('"kysely_'),
)

/** Puts the ledger where a server of today will find it. */
async function restore({ dialect, config }: StorePlace): Promise<void> {
  if (dialect === 'sqlite') {
    const file = new DatabaseSync(join(config.STATE_DIR, SQLITE_FILE))
    file.exec(statements.join(';\n'))
    return file.close()
  }
  const store = openPostgresStore(config.DATABASE_URL ?? '', silentLog)
  const { error } = await createMigrator(store).migrateTo(LAST_MIGRATION)
  expect(error).toBeUndefined()
  for (const insert of inserts) await sql.raw(insert).execute(store.db)
  await store.close()
}

describeStores('a ledger of the version before', ({ newPlace }) => {
  const open = async () => {
    const place = await newPlace()
    await restore(place)
    return openStore(place.config, silentLog)
  }

  test('opens, and every row is there with every value it had', async () => {
    const store = await open()
    const rowsOf = async (table: string) => {
      const { rows } = await sql<
        Record<string, unknown>
      >`select * from ${sql.table(table)}`.execute(store.db)
      return rows
    }
    for (const insert of inserts) {
      const [, table = '', columns = '', values = ''] =
        /^INSERT INTO "(\w+)" \((.*?)\) VALUES \((.*)\)$/s.exec(insert) ?? []
      const names = columns.split(', ').map((name) => name.slice(1, -1))
      const cells = splitValues(values)
      expect(cells).toHaveLength(names.length)
      const row = Object.fromEntries(names.map((name, n) => [name, cells[n]]))
      expect(await rowsOf(table), table).toContainEqual(expect.objectContaining(row))
    }
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

  test('has queued settlements that know their payment and about when the call was', async () => {
    const store = await open()
    const checks = await store.db.selectFrom('settlement_check').selectAll().execute()
    expect(checks).toHaveLength(2)
    for (const { payment, called_at, answered_at, created_at, claim } of checks) {
      expect(payment).toContain(JSON.parse(claim).transaction)
      expect(answered_at).toBe(created_at)
      expect(created_at - called_at).toBe(330_000)
    }
    await store.close()
  })
})

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
