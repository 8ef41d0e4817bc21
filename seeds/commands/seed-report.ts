import { REFUSAL_REASONS, type Refusal, type RefusalReason } from '../facts/refusal.ts'
import type { KeptListing } from '../plan/plan-seeding.ts'
import { toPrintable } from '../text/printable.ts'
import type { SeedingResult } from './run-seeding.ts'
import type { SeedOptions } from './seed-options.ts'

const EXAMPLES = 3

const KEPT: Record<KeptListing['why'], string> = {
  already_listed: 'listed already by people',
  removed_by_people: 'removed by people, not brought back',
  left_as_is: 'left as it is (hands-off.yaml, or an unreadable file)',
}

/** The summary a person reads at the end: every row is in one of its numbers. */
export function formatSeedReport(result: SeedingResult, options: SeedOptions): string {
  const { plan, refused } = result
  const added = plan.writes.filter(({ isNew }) => isNew).length
  const would = options.dryRun ? 'would be ' : ''
  return [
    `${options.importer}: ${result.rows} rows from ${toPrintable(options.from)}`,
    line(added, `${would}added`),
    line(plan.writes.length - added, `${would}changed`),
    line(plan.unchanged, 'unchanged'),
    ...Object.entries(KEPT).flatMap(([why, text]) => {
      const count = plan.kept.filter((kept) => kept.why === why).length
      return count === 0 ? [] : [line(count, text)]
    }),
    line(refused.length, 'refused'),
    ...formatByReason(refused),
    ...formatNotes(result),
    ...(options.dryRun ? ['Dry run: nothing was written.'] : []),
    '',
  ].join('\n')
}

function formatNotes({ plan, dropped, withdrawn }: SeedingResult): string[] {
  return [
    ...(dropped.length === 0
      ? []
      : [
          `${dropped.length} remotes or packages were left out of servers that are listed:`,
          ...formatByReason(dropped),
        ]),
    ...(plan.editedFields.length === 0
      ? []
      : [
          `${plan.editedFields.length} listings hold fields that people edited; those fields were kept:`,
          ...plan.editedFields
            .slice(0, EXAMPLES)
            .map(({ file, fields }) => `      ${file}: ${fields.join(', ')}`),
        ]),
    ...(withdrawn.length === 0
      ? []
      : [
          `${withdrawn.length} listings are refused now but still there; look at them and remove what is gone:`,
          ...withdrawn.map(
            ({ file, refusal }) =>
              `      ${file}: ${refusal.reason}, ${toPrintable(refusal.detail)}`,
          ),
        ]),
  ]
}

function formatByReason(refusals: readonly Refusal[]): string[] {
  const byReason = new Map<RefusalReason, Refusal[]>()
  for (const refusal of refusals) {
    const list = byReason.get(refusal.reason)
    if (list === undefined) byReason.set(refusal.reason, [refusal])
    else list.push(refusal)
  }
  return [...byReason]
    .sort(([a, listA], [b, listB]) => listB.length - listA.length || (a < b ? -1 : 1))
    .flatMap(([reason, list]) => [
      `  ${String(list.length).padStart(7)}  ${reason}: ${REFUSAL_REASONS[reason]}`,
      ...list
        .slice(0, EXAMPLES)
        .map(
          ({ name, detail }) => `           ${toPrintable(name, 100)}: ${toPrintable(detail, 160)}`,
        ),
      ...(list.length > EXAMPLES
        ? [`           and ${list.length - EXAMPLES} more (--report FILE lists all)`]
        : []),
    ])
}

function line(count: number, text: string): string {
  return `${String(count).padStart(7)}  ${text}`
}
