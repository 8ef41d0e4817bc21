import type { Signals } from './evidence.ts'

/** Signals whose wire name carries the provider's id: they are its judgement, not a measurement. */
const PREFIXED = new Set(['status', 'verified'])

/**
 * spec: `signals`.
 *
 * @example toSignalsView({ status: 'online', p95_ms: 310 }, 'x402-list') → { x402_list_status: 'online', p95_ms: 310 }
 */
export function toSignalsView(
  signals: Signals,
  source: string,
): Record<string, string | number | boolean> {
  const prefix = source.replaceAll('-', '_')
  const entries = Object.entries(signals).flatMap(([key, value]) =>
    value === undefined ? [] : [[PREFIXED.has(key) ? `${prefix}_${key}` : key, value] as const],
  )
  return Object.fromEntries(entries)
}
