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
  const own = [...known, ...judged]
  const day = Object.entries(signals).find(
    ([key]) => key.endsWith('_as_of') && `${key.slice(0, -'as_of'.length)}status` in signals,
  )?.[1]
  // A number without its day says nothing.
  return own.length === 0 || day === undefined
    ? own
    : [['Seen on', String(day).slice(0, 10)], ...own]
}

/**
 * What others count, one row for each of them: the day and who counts come before the numbers.
 *
 * @param nameOf the name of a source's id
 * @example → [['In the 30 days to 2026-09-20, counted by CDP Bazaar', '6 calls, at least 4 payers']]
 */
export function toUseWords(
  signals: ListingView['signals'],
  nameOf: (source: string) => string,
): [label: string, value: string][] {
  const sources = Object.keys(signals).flatMap((key) => /^(.+)_as_of$/.exec(key)?.[1] ?? [])
  return sources.flatMap((source) => {
    const count = (name: (typeof USE_COUNTS)[number]) => {
      const value = signals[`${source}_${name}`]
      return typeof value === 'number' ? value : null
    }
    const day = String(signals[`${source}_as_of`]).slice(0, 10)
    const who = `counted by ${nameOf(source)}`
    const [calls, payers] = [count('calls_30d'), count('payers_30d')]
    const [downloads, stars] = [count('downloads'), count('stars')]
    const rows: [string, (string | false)[]][] = [
      [
        `In the 30 days to ${day}, ${who}`,
        [
          calls !== null && toCount(calls, 'call'),
          payers !== null && `at least ${toCount(payers, 'payer')}`,
        ],
      ],
      [
        `Up to ${day}, ${who}`,
        [
          downloads !== null && toCount(downloads, 'download'),
          stars !== null && toCount(stars, 'star'),
        ],
      ],
    ]
    return rows.flatMap(([label, counts]): [string, string][] => {
      const known = counts.filter((each) => each !== false)
      return known.length === 0 ? [] : [[label, known.join(', ')]]
    })
  })
}

/** @example toCount(1500, 'call') → '1,500 calls' */
function toCount(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
}

/** Whether anybody counted calls or payers of late: then nobody may say that it is not known. */
export function isUsed(signals: ListingView['signals']): boolean {
  return Object.entries(signals).some(
    ([key, value]) => /_(?:calls|payers)_30d$/.test(key) && typeof value === 'number' && value > 0,
  )
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
