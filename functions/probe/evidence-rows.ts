import * as v from 'valibot'
import { type Evidence, EvidenceSchema } from '../../src/domain/trust/evidence.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import type { Store } from '../store/schema/store.ts'
import type { EvidenceKeeper } from './probe-content.ts'

/** Evidence as rows of the ledger: a server may have no content folder. */
export function createEvidenceRows({ db }: Store, now: () => number): EvidenceKeeper {
  return {
    async read(id) {
      const row = await db
        .selectFrom('probe_evidence')
        .select('evidence')
        .where('listing_id', '=', id)
        .executeTakeFirst()
      return row === undefined ? {} : toEvidence(row.evidence)
    },
    async write(id, evidence) {
      const row = { evidence: JSON.stringify(evidence), probed_at: now() }
      await db
        .insertInto('probe_evidence')
        .values({ listing_id: id, ...row })
        .onConflict((conflict) => conflict.column('listing_id').doUpdateSet(row))
        .execute()
    },
  }
}

/** Everything a server's own probes saw, by listing id. */
export async function readProbeEvidence({ db }: Store): Promise<Map<string, Evidence>> {
  const rows = await db
    .selectFrom('probe_evidence')
    .select(['listing_id', 'evidence'])
    .orderBy('listing_id')
    .execute()
  return new Map(rows.map(({ listing_id, evidence }) => [listing_id, toEvidence(evidence)]))
}

/** What an earlier version wrote and this one does not take counts as not probed yet. */
function toEvidence(text: string): Evidence {
  const parsed = v.safeParse(EvidenceSchema, parseJson(text))
  return parsed.success ? parsed.output : {}
}
