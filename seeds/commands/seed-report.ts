import { toPrintable } from '../../src/content/faults.ts'
import { REFUSAL_REASONS, type Refusal } from '../facts/refusal.ts'
import type { RowOutcome } from '../plan/plan-rows.ts'
import type { SeedingResult } from './run-seeding.ts'

const EXAMPLES = 3

/** The summary for people at the end: every row is in one of its numbers. */
export function formatSeedReport(result: SeedingResult, options: { dryRun: boolean }): string {
  const { importer, from, refused, suspicion } = result
  const { read, rows, listings } = countSeeding(result)
  const would = options.dryRun || suspicion !== null ? 'would be ' : ''
  return [
    `${importer}: ${read} rows from ${toPrintable(from)}`,
    line(rows.added, `${would}added, and wait for a person: npm run review -- --from ${importer}`),
    line(rows.changed, `${would}changed`),
    line(rows.unchanged, 'unchanged'),
    ...some(rows.merged, `${would}merged into listings that are there or made from other rows`),
    ...some(rows.kept, 'left as they are (hands-off.yaml)'),
    line(rows.refused, 'refused'),
    ...formatByReason(refused),
    ...some(listings.withdrawn, `listings ${would}withdrawn`),
    ...some(listings.returned, `listings ${would}brought back`),
    ...some(listings.waiting, 'rows wait for a person'),
    ...formatNotes(result),
    ...(suspicion === null
      ? []
      : [`Nothing was written: ${suspicion}. --force writes it all the same.`]),
    ...(options.dryRun ? ['Dry run: nothing was written.'] : []),
    '',
  ].join('\n')
}

function formatNotes({ plan, dropped, refusedNow }: SeedingResult): string[] {
  const stayed = plan.withdrawn.filter(({ how }) => how === 'notice')
  return [
    ...section(
      dropped.length,
      'parts were left out of listings that are otherwise carried over:',
      formatByReason(dropped),
    ),
    ...section(
      stayed.length,
      'listings of people’s are withdrawn by the source; npm run review asks:',
      stayed.map(({ listing }) => `      ${listing}`),
    ),
    ...section(
      refusedNow.length,
      'rows are refused now and stay as they were; look at their listings:',
      refusedNow.map(
        ({ name, reason, detail }) =>
          `      ${toPrintable(name)}: ${reason}, ${toPrintable(detail)}`,
      ),
    ),
  ]
}

function section(count: number, title: string, lines: readonly string[]): string[] {
  return count === 0 ? [] : [`${count} ${title}`, ...lines]
}

function some(count: number, text: string): string[] {
  return count === 0 ? [] : [line(count, text)]
}

function formatByReason(refusals: readonly Refusal[]): string[] {
  return [...Map.groupBy(refusals, ({ reason }) => reason)]
    .sort(([a, listA], [b, listB]) => listB.length - listA.length || (a < b ? -1 : 1))
    .flatMap(([reason, list]) => {
      const examples = list
        .slice(0, EXAMPLES)
        .map(({ name, detail }) => `${toPrintable(name, 100)}: ${toPrintable(detail, 160)}`)
      if (list.length > EXAMPLES)
        examples.push(`and ${list.length - EXAMPLES} more (--report FILE lists all)`)
      return [
        `  ${line(list.length, `${reason}: ${REFUSAL_REASONS[reason]}`)}`,
        ...examples.map((text) => `           ${text}`),
      ]
    })
}

function line(count: number, text: string): string {
  return `${String(count).padStart(7)}  ${text}`
}

/**
 * What `--json` prints of one source; `rows` add up to `read`. `left_out` counts parts of listings:
 * remotes, prices, operations. `suspicion` says why nothing was written.
 */
export function countSeeding(result: SeedingResult) {
  const { plan, refused, dropped, suspicion } = result
  const { outcomes } = plan
  const count = (outcome: RowOutcome) => outcomes.filter((each) => each.outcome === outcome).length
  const all = (outcome: RowOutcome) =>
    outcomes.filter((each) => each.outcome === outcome).reduce((sum, { rows }) => sum + rows, 0)
  // Of several rows for one service, the first created the listing and the others joined it.
  const joining = outcomes
    .filter(({ outcome }) => outcome !== 'merged' && outcome !== 'kept')
    .reduce((sum, { rows }) => sum + rows - 1, 0)
  return {
    source: result.importer,
    read: result.rows,
    rows: {
      added: count('added'),
      changed: count('changed') + count('returned'),
      unchanged: count('unchanged'),
      merged: all('merged') + joining,
      kept: all('kept'),
      refused: refused.reduce((sum, { rows = 1 }) => sum + rows, 0),
    },
    listings: {
      added: count('added'),
      changed: count('changed') + count('merged'),
      unchanged: count('unchanged'),
      withdrawn: plan.withdrawn.filter(({ how }) => how === 'tombstone').length,
      returned: count('returned'),
      waiting: plan.waiting,
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
