import { Script } from 'node:vm'

const MAX_MS = 45_000
const SLOT = 'waypostGuardedWork'

/**
 * Runs work that a pattern with catastrophic backtracking would never finish, and ends it where it
 * hangs: vitest's own timeout cannot interrupt a regular expression, V8's watchdog can. Not a
 * measurement: what is fine takes thousands of times less.
 */
export function guardHang(work: () => void): void {
  Reflect.set(globalThis, SLOT, work)
  try {
    new Script(`globalThis.${SLOT}()`).runInThisContext({ timeout: MAX_MS })
  } finally {
    Reflect.deleteProperty(globalThis, SLOT)
  }
}
