import { hash } from 'node:crypto'
import { USUAL_LIMITS } from '../ports/config.ts'

/**
 * `login` counts clients, `login_address` requests of one client for one address; the setting
 * `login` controls both. The others count mails to an address: five an hour, then a spare one in
 * ten minutes for a client that had none sent, so that nobody can use up an owner's address.
 */
export const LIMITS = {
  ...USUAL_LIMITS,
  login_address: { requests: 5, seconds: 3600 },
  login_mails: { requests: 5, seconds: 3600 },
  login_sent: { requests: 1, seconds: 3600 },
  login_spare: { requests: 1, seconds: 600 },
}
export type LimitName = keyof typeof LIMITS

/** The counter of one limit. In memory by default; several instances share a store. */
export type CreateCounter = (options: {
  name: LimitName
  requests: number
  seconds: number
}) => Counter

export interface Counter {
  /** Counts one; returns how many the key has used in its window, and when that ends. */
  count(key: string): Promise<{ used: number; msBeforeReset: number }>
  /** How many the key has used in its window; counts nothing. */
  peek(key: string): Promise<number>
}

/** Keys with an open window before new ones share buckets: rotating addresses must not eat memory. */
const MAX_KEYS = 50_000
const SHARED_BUCKETS = 1024

interface Window {
  used: number
  /** On the monotonic clock (milliseconds): setting the clock cannot lengthen a window. */
  endsAt: number
}

function toSharedBucket(key: string): string {
  return `shared ${Number.parseInt(hash('sha256', key).slice(0, 8), 16) % SHARED_BUCKETS}`
}

/** Counts only in memory. */
export function createMemoryCounter({ seconds }: { seconds: number }, now?: () => number): Counter {
  const { peek, count } = createWindows({ seconds }, now)
  return { peek: async (key) => peek(key), count: async (key) => count(key) }
}

/**
 * Fixed windows in memory. All have one length, so they end in the order of the map: each count
 * drops ended ones from the front.
 */
export function createWindows(
  { seconds }: { seconds: number },
  now: () => number = () => performance.now(),
) {
  const lengthMs = seconds * 1000
  const windows = new Map<string, Window>()
  /** No window ends before this time. */
  let nextEnd = 0
  const dropEnded = (at: number) => {
    for (const [ended, { endsAt }] of windows) {
      nextEnd = endsAt
      if (endsAt > at) return
      windows.delete(ended)
    }
  }
  return {
    peek(key: string): number {
      const open = windows.get(key)
      return open === undefined || open.endsAt <= now() ? 0 : open.used
    },
    count(key: string) {
      const at = now()
      if (at >= nextEnd) dropEnded(at)
      const isCrowded = windows.size >= MAX_KEYS && !windows.has(key)
      const counted = isCrowded ? toSharedBucket(key) : key
      const known = windows.get(counted)
      const open = known ?? { used: 0, endsAt: at + lengthMs }
      if (known === undefined) windows.set(counted, open)
      open.used += 1
      return { used: open.used, msBeforeReset: open.endsAt - at }
    },
  }
}
