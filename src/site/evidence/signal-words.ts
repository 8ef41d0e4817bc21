import { USE_COUNTS } from '../../domain/trust/reported-use.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'

const LABELS: Readonly<Record<string, string>> = {
  uptime_24h: 'Uptime, 24 hours',
  uptime_30d: 'Uptime, 30 days',
  p95_ms: '95 % answered within',
  compliance_grade: 'Compliance grade',
  risk_level: 'Risk level',
  endpoint_count: 'Endpoints',
  openapi_paid_ops: 'Paid operations in OpenAPI',
}
const UNITS: Readonly<Record<string, string>> = {
  uptime_24h: ' %',
  uptime_30d: ' %',
  p95_ms: ' ms',
}

/**
 * Signals for people, in a fixed order; the provider's own judgements last.
 *
 * @example toSignalWords({ p95_ms: 310 }) → [['95 % answered within', '310 ms']]
 */
export function toSignalWords(signals: ListingView['signals']): [label: string, value: string][] {
  const known = Object.keys(LABELS).flatMap((key): [string, string][] => {
    const value = signals[key]
    return value === undefined ? [] : [[LABELS[key] ?? key, `${value}${UNITS[key] ?? ''}`]]
  })
  const judged = Object.entries(signals).flatMap(([key, value]): [string, string][] =>
    Object.hasOwn(LABELS, key) || isOfUse(key) ? [] : [[toLabel(key), toWord(value)]],
  )
  return [...known, ...judged]
}

const USE_LABELS: Readonly<Record<(typeof USE_COUNTS)[number], string>> = {
  calls_30d: 'Calls in 30 days',
  payers_30d: 'Payers in 30 days, at least',
  downloads: 'Downloads',
  stars: 'Stars',
}

/** Usage counts by others: who counts, when, and what. @param nameOf the name of a source's id */
export function toUseWords(
  signals: ListingView['signals'],
  nameOf: (source: string) => string,
): [label: string, value: string][] {
  return Object.entries(signals).flatMap(([key, value]): [string, string][] => {
    const name = USE_COUNTS.find((each) => key.endsWith(`_${each}`))
    if (name === undefined || typeof value !== 'number') return []
    const source = key.slice(0, -name.length - 1)
    const day = String(signals[`${source}_as_of`] ?? '')
    return [[`${USE_LABELS[name]} (${nameOf(source)}, ${day})`, value.toLocaleString('en-US')]]
  })
}

function isOfUse(key: string): boolean {
  return key.endsWith('_as_of') || USE_COUNTS.some((name) => key.endsWith(`_${name}`))
}

/** `x402_list_status` → `Status (x402 list)`: the prefix is the provider that says so. */
function toLabel(key: string): string {
  const end = key.lastIndexOf('_')
  const word = key.slice(end + 1)
  const provider = key.slice(0, Math.max(end, 0)).replaceAll('_', '-')
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}${provider === '' ? '' : ` (${provider})`}`
}

function toWord(value: string | number | boolean): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return String(value)
}
