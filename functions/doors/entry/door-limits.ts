import type { Budget } from '../../limits/budget.ts'
import { clientOf } from '../../limits/client-key.ts'
import type { LimitName } from '../../limits/counter.ts'
import type { Parts } from '../../parts/parts.ts'

export type DoorLimits = Pick<Parts, 'limits' | 'config'>

/** What the doors that take a body share: a client gets no more by coming in twice. */
export interface DoorBodies {
  /** Bytes of bodies that are read or worked on. */
  bodies: Budget
}

const MIB = 1024 * 1024
export const BODY_LIMITS = { perClient: 4 * MIB, perNetwork: 16 * MIB, inAll: 64 * MIB }

type NodeStream = NodeJS.EventEmitter & { destroyed: boolean }

/** The request as h3 hands it on: with the peer's address, and what it came in by. */
export type DoorRequest = Request & {
  ip?: string | undefined
  runtime?:
    | { node?: { req?: NodeStream & { pause(): unknown }; res?: NodeStream | undefined } }
    | undefined
}

/**
 * Counts `times` requests of the caller against a limit of our own API, which doors share.
 *
 * @returns the fields an answer carries, whether it is a refusal or not
 */
export async function takeForDoor(parts: DoorLimits, name: LimitName, req: DoorRequest, times = 1) {
  const client = clientOf(req, parts.config)
  let last = await parts.limits.take(name, client)
  for (let count = 1; count < times && last.allowed; count += 1)
    last = await parts.limits.take(name, client)
  return { allowed: last.allowed, taken: last.headers }
}
