import * as v from 'valibot'
import { mergeFinding } from '../../src/domain/probe/keep/merge-finding.ts'
import { type Candidate, orderByNeed, toCandidate } from '../../src/domain/probe/keep/probe-plan.ts'
import { toFacts } from '../../src/domain/probe/keep/tool-facts.ts'
import type { Finding, ProbeOutcome } from '../../src/domain/probe/read/finding.ts'
import { type Evidence, EvidenceSchema } from '../../src/domain/trust/evidence.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import type { Store } from '../store/schema/store.ts'
import { type ProbeRunOptions, runProbes } from './run-probes.ts'

/** Where results are kept: files of the content, or a server's ledger. */
export interface EvidenceKeeper {
  /** Nothing where the listing has not been probed yet. */
  read(id: string): Promise<Evidence>
  write(id: string, evidence: Evidence): Promise<void>
  /** Called before a listing is probed; false where it was probed within the day. */
  begin?(id: string): Promise<boolean>
}

export interface ProbeContentOptions extends Omit<ProbeRunOptions, 'begin' | 'onResult'> {
  /** Leaves out listings probed less than this long ago (milliseconds). */
  staleMs: number
  limit: number
  /** Keeps no sellers' texts: for content that is published as one's own. */
  factsOnly?: boolean
  evidence: EvidenceKeeper
  /** Called with each result after it is written. */
  onProbe: (id: string, finding: Finding, at: string) => void
}

export type ProbeSummary = Awaited<ReturnType<typeof probeContent>>

/** Probes listings and writes their evidence, one by one, as results come in. */
export async function probeContent(options: ProbeContentOptions) {
  const { evidence: keeper, plans, now, staleMs, limit, onProbe } = options
  const started = now()
  const candidates: Candidate[] = []
  for (const plan of plans) candidates.push(toCandidate(plan, await keeper.read(plan.id)))
  const due = orderByNeed(candidates, { now: started, staleMs })
  const outcomes: Partial<Record<ProbeOutcome, number>> = {}
  const tally = await runProbes({
    ...options,
    plans: due.slice(0, limit),
    begin: async ({ id }) => (await keeper.begin?.(id)) ?? true,
    onResult: async (plan, finding, moment) => {
      const at = toInstant(moment)
      const evidence = await keeper.read(plan.id)
      const kept = options.factsOnly === true ? toFacts(finding) : finding
      await keeper.write(plan.id, mergeFinding(evidence, kept, plan, at))
      outcomes[finding.outcome] = (outcomes[finding.outcome] ?? 0) + 1
      onProbe(plan.id, finding, at)
    },
  })
  return {
    listings: plans.length,
    /** Probed recently enough, or an endpoint that cannot be probed and is recorded as such. */
    not_due: plans.length - due.length,
    probed: tally.probed,
    held_back: tally.heldBack,
    outcomes,
    is_offline: tally.isOffline,
    seconds: Math.round((now() - started) / 100) / 10,
  }
}

/** Whole seconds: fractions would only make the files longer. */
export function toInstant(moment: number): string {
  return new Date(moment).toISOString().replace(/\.\d{3}Z$/, 'Z')
}

/** Evidence as rows of the ledger: a server may have no content folder. */
export function createEvidenceRows(
  { db }: Store,
  now: () => number,
  staleMs: number,
): Required<EvidenceKeeper> {
  return {
    // Written first: a server that is killed during a probe must not make another repeat it.
    async begin(id) {
      const asked_at = now()
      const begun = await db
        .insertInto('probe_evidence')
        .values({ listing_id: id, evidence: '{}', probed_at: asked_at, asked_at })
        .onConflict((conflict) =>
          conflict
            .column('listing_id')
            .doUpdateSet({ asked_at })
            .where(({ or, eb }) =>
              or([
                eb('probe_evidence.asked_at', 'is', null),
                eb('probe_evidence.asked_at', '<=', asked_at - staleMs),
              ]),
            ),
        )
        .returning('listing_id')
        .execute()
      return begun.length > 0
    },
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
        .values({ listing_id: id, asked_at: null, ...row })
        .onConflict((conflict) => conflict.column('listing_id').doUpdateSet(row))
        .execute()
    },
  }
}

export async function readProbeEvidence({ db }: Store): Promise<Map<string, Evidence>> {
  const rows = await db
    .selectFrom('probe_evidence')
    .select(['listing_id', 'evidence'])
    .orderBy('listing_id')
    .execute()
  return new Map(rows.map(({ listing_id, evidence }) => [listing_id, toEvidence(evidence)]))
}

/** Evidence of an earlier version that this one does not accept counts as not probed yet. */
function toEvidence(text: string): Evidence {
  const parsed = v.safeParse(EvidenceSchema, parseJson(text))
  return parsed.success ? parsed.output : {}
}
