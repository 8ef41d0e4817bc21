import { withoutHidden } from '../../listing/listing-text.ts'
import type { Tool } from '../../listing/tools-and-skills.ts'
import { toUsd } from '../../operation/price-text.ts'
import type { Drift } from '../../trust/evidence.ts'
import type { Interface } from '../../trust/interface.ts'
import { toInertLine } from '../read/inert-text.ts'
import { toOperationName } from './merge-operations.ts'

const KEPT = 20
const KEPT_MS = 90 * 86_400_000
const MAX_NAME = 100
const MAX_WORDS = 300
/** Words shown before the first difference, so that a reader sees where a long text changed. */
const CONTEXT = 40

/**
 * One row for each tool, price and payee that changed since the previous probe; newest first.
 * Truncated lists say nothing about missing items.
 */
export function toDriftHistory(
  known: readonly Drift[],
  before: Interface | undefined,
  now: Interface | null,
  at: string,
): Drift[] {
  const isComplete = before !== undefined && now !== null && !before.truncated && !now.truncated
  const found = isComplete ? [...compareTools(before, now), ...compareTerms(before, now)] : []
  const oldest = new Date(Date.parse(at) - KEPT_MS).toISOString()
  const rows = found.map(({ what, name, was, is }): Drift => {
    const [from, to] = cutAlike(was ?? '', is ?? '')
    return {
      ...{ at, what, name: toInertLine(name, MAX_NAME) },
      ...(was !== undefined && from !== '' && { was: from }),
      ...(is !== undefined && to !== '' && { is: to }),
    }
  })
  return [...rows, ...known.filter((row) => row.at >= oldest)].slice(0, KEPT)
}

function compareTools({ tools: before }: Interface, { tools: now }: Interface) {
  if (before === undefined || now === undefined) return []
  return differing('tool', toTexts(before), toTexts(now))
}

/** The description of a tool, and its inputs. */
function toTexts(tools: readonly Tool[]): Record<string, string> {
  return Object.fromEntries(
    tools.map(({ name, description, input_schema }) => {
      const takes = Object.keys(Object(input_schema.properties)).sort().join(', ')
      const text = withoutHidden(description).replace(/\s+/g, ' ').trim()
      return [withoutHidden(name), takes === '' ? text : `${text} (${takes})`]
    }),
  )
}

/** Of operations that named a price or a payee both times. */
function compareTerms(before: Interface, now: Interface) {
  return (['price', 'payee'] as const).flatMap((what) =>
    differing(what, toTerms(before, what), toTerms(now, what)).filter(({ was, is }) => was && is),
  )
}

function toTerms({ operations = [] }: Interface, what: 'price' | 'payee'): Record<string, string> {
  return Object.fromEntries(
    operations.map(({ method, url, seen }) => {
      const { min_usd, pay_to = [] } = seen ?? {}
      const price = min_usd === undefined ? '' : toUsd(min_usd)
      return [toOperationName({ method, url }), what === 'price' ? price : pay_to.join(', ')]
    }),
  )
}

function differing(what: Drift['what'], was: Record<string, string>, is: Record<string, string>) {
  const names = new Set([...Object.keys(was), ...Object.keys(is)])
  const changed = [...names].filter((name) => was[name] !== is[name]).sort()
  return changed.map((name) => ({ what, name, was: was[name], is: is[name] }))
}

/** Both texts from shortly before their first difference. */
function cutAlike(was: string, is: string): [string, string] {
  let same = 0
  while (same < was.length && was[same] === is[same]) same += 1
  const isLong = Math.max(was.length, is.length) > MAX_WORDS
  const from = isLong ? Math.max(0, same - CONTEXT) : 0
  const cut = (text: string) => toInertLine((from > 0 ? '…' : '') + text.slice(from), MAX_WORDS)
  return [cut(was), cut(is)]
}
