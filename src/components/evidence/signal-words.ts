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
    Object.hasOwn(LABELS, key) || key.endsWith('_as_of') ? [] : [[toLabel(key), toWord(value)]],
  )
  const own = [...known, ...judged]
  const day = Object.entries(signals).find(
    ([key]) => key.endsWith('_as_of') && `${key.slice(0, -'as_of'.length)}status` in signals,
  )?.[1]
  // A number without its day says nothing.
  return own.length === 0 || day === undefined
    ? own
    : [['Seen on', String(day).slice(0, 10)], ...own]
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
