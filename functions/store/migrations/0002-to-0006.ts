import { type Kysely, sql } from 'kysely'
import { addColumns, createTables } from './0001-baseline.ts'
import { key, maybe, moment, table, text, unique } from './columns.ts'

/** Tables that came after the baseline, by their migration. */
export const ACCESS = {
  /** Who may read a closed directory; `token_hash` is a SHA-256, so a copy of this table opens nothing. */
  access_token: table({
    name: key,
    token_hash: unique,
    created_at: moment,
    expires_at: maybe(moment),
  }),
}

export const JOBS = {
  /** What machines have to do, see `functions/store/jobs.ts`. */
  job: table(
    { queue: text, key: text, due: moment, holder: text, held_until: moment },
    'job_key primary key (queue, key)',
  ),
}

/** Columns of tables that were there. */
export const CONTRACT_PROOFS = {
  /** Of a wallet that is a contract: when it last said yes, and to what. A key's signature never changes. */
  payout_proof: table({
    checked_at: maybe(moment),
    challenge: maybe(text),
    signature: maybe(text),
  }),
}

export const ASKED = {
  /** When a server last began to ask the listing. */
  probe_evidence: table({ asked_at: maybe(moment) }),
}

export const MOVES = {
  /** Where the owner says the listing is listed now. */
  opt_out: table({ moved_to: maybe(text) }),
}

/** Work that servers share instead of one lease for all of it. */
export async function addJobs(db: Kysely<unknown>): Promise<void> {
  await createTables(db, JOBS)
  await addColumns(db, ASKED)
  await sql`create index job_due on job (queue, due)`.execute(db)
  await sql`drop table lease`.execute(db)
}
