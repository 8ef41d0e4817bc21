import type { PackageRun } from '../../domain/trust/evidence.ts'
import { toDay } from '../../domain/views/known-view.ts'

const WORDS = {
  runs_as_declared: 'Runs as declared',
  fails: 'Fails to start',
  unknown: 'No result',
} as const satisfies Record<PackageRun['outcome'], string>

/**
 * The result of the last run of a package, for people.
 *
 * @example toRunWords({ outcome: 'runs_as_declared', version: '1.4.2', at: '2026-11-22T20:39:26Z' })
 *   → { result: 'Runs as declared', when: '1.4.2, 22 November 2026', more: '' }
 */
export function toRunWords({ outcome, version, at, why, placeholders = [] }: PackageRun) {
  const day = toDay(at)
  const settings =
    placeholders.length > 0 ? `With placeholders for ${placeholders.join(', ')}.` : ''
  return {
    result: WORDS[outcome],
    when: version === undefined ? day : `${version}, ${day}`,
    more: why ?? settings,
  }
}
