import { type QueryExecutorProvider, sql } from 'kysely'

/** Tables that PostgreSQL partitions by month: the time column, and its units per day. */
export const BY_MONTH = {
  click: { column: 'hour', unitsADay: 24 },
  usage_day: { column: 'day', unitsADay: 1 },
} as const

const DAY_MS = 86_400_000

/** Months created in advance; rows of any other go to the partition `<table>_other`. */
const AHEAD = [1, 2]

export async function addMonths(db: QueryExecutorProvider, now: number): Promise<void> {
  const [year, month] = [new Date(now).getUTCFullYear(), new Date(now).getUTCMonth()]
  for (const [table, { unitsADay }] of Object.entries(BY_MONTH))
    for (const ahead of AHEAD) {
      const [from = 0, to = 0] = [ahead, ahead + 1].map((n) => Date.UTC(year, month + n))
      const name = `${table}_${new Date(from).toISOString().slice(0, 7).replace('-', '')}`
      const bound = (moment: number) => sql.lit((moment / DAY_MS) * unitsADay)
      await sql`create table if not exists ${sql.table(name)} partition of ${sql.table(table)}
        for values from (${bound(from)}) to (${bound(to)})`.execute(db)
    }
}

/** Drops the partitions of months that lie entirely before that day (days since the epoch). */
export async function dropMonths(
  db: QueryExecutorProvider,
  table: keyof typeof BY_MONTH,
  day: number,
): Promise<void> {
  const { rows } = await sql<{ name: string }>`select inhrelid::regclass::text as name
    from pg_inherits where inhparent = ${table}::regclass`.execute(db)
  for (const { name } of rows) {
    const [, year, month] = /_(\d{4})(\d\d)$/.exec(name) ?? []
    if (month !== undefined && Date.UTC(Number(year), Number(month)) <= day * DAY_MS)
      await sql`drop table if exists ${sql.table(name)}`.execute(db)
  }
}
