import type { Refusal } from '../facts/refusal.ts'
import type { SeedOutcome } from '../plan/seeding-plan.ts'
import type { SeedingResult } from './run-seeding.ts'

/** What `--json` prints of one source; `rows` add up to `read`. */
export interface SeedCounts {
  source: string
  read: number
  rows: {
    added: number
    changed: number
    unchanged: number
    merged: number
    kept: number
    refused: number
  }
  listings: {
    added: number
    changed: number
    unchanged: number
    withdrawn: number
    returned: number
  }
  refused_by: Record<string, number>
  /** Parts of listings that were left out: remotes, prices, operations. */
  left_out: Record<string, number>
  seconds: number
  /** Why nothing was written. */
  suspicion?: string
}

export function countSeeding(result: SeedingResult): SeedCounts {
  const { plan, refused, dropped, suspicion } = result
  const { outcomes } = plan
  const count = (outcome: SeedOutcome) => outcomes.filter((each) => each.outcome === outcome).length
  const all = (outcome: SeedOutcome) =>
    outcomes.filter((each) => each.outcome === outcome).reduce((sum, { rows }) => sum + rows, 0)
  // Of a listing's rows the first made it, the others joined it.
  const joining = outcomes
    .filter(({ outcome }) => outcome !== 'merged' && outcome !== 'kept')
    .reduce((sum, { rows }) => sum + rows - 1, 0)
  const written = new Set(plan.writes.map(({ file }) => file))
  const changedByMerge = outcomes.filter(
    ({ outcome, file }) => outcome === 'merged' && written.has(file),
  ).length
  return {
    source: result.importer,
    read: result.rows,
    rows: {
      added: count('added') + count('returned'),
      changed: count('changed'),
      unchanged: count('unchanged'),
      merged: all('merged') + joining,
      kept: all('kept'),
      refused: refused.reduce((sum, { rows = 1 }) => sum + rows, 0),
    },
    listings: {
      added: count('added'),
      changed: count('changed') + changedByMerge,
      unchanged: count('unchanged') + count('merged') - changedByMerge,
      withdrawn: plan.withdrawn.filter(({ how }) => how === 'tombstone').length,
      returned: count('returned'),
    },
    refused_by: countByReason(refused),
    left_out: countByReason(dropped),
    seconds: Math.round(result.seconds * 1000) / 1000,
    ...(suspicion === null ? {} : { suspicion }),
  }
}

function countByReason(refusals: readonly Refusal[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const { reason, rows = 1 } of refusals) counts.set(reason, (counts.get(reason) ?? 0) + rows)
  return Object.fromEntries([...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)))
}
