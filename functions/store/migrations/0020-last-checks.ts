import type { Kysely } from 'kysely'

/** What the last look for a claim's proof saw, so that its seller still finds it tomorrow. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('claim').addColumn('last_check', 'text').execute()
}
