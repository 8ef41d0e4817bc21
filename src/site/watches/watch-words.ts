import type { WATCH_STATES, WatchView } from '../../domain/watches/watch.ts'

/** What is told, as a list of things. */
export const EVENT_TEXTS: Readonly<Record<string, string>> = {
  changed: 'Changes of what a caller relies on',
  price: 'Prices',
  probe: 'Whether it answers our probe',
  trust: 'Trust',
  removed: 'Removal',
  payee: 'Who is paid',
  disputed: 'Disputes',
}

export const STATE_TEXTS: Record<(typeof WATCH_STATES)[number], string> = {
  waiting: 'Not confirmed yet',
  live: 'On',
  paused: 'Paused',
}

export function toTargetText(target: Exclude<WatchView['target'], { listing: string }>): string {
  return 'payee' in target ? `Paid to ${target.payee}` : `Search: ${target.query}`
}
