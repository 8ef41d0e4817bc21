import { type Budget, createBudget } from '../../limits/budget.ts'
import { clientOf } from '../../limits/client-key.ts'
import type { LimitName } from '../../limits/counter.ts'
import { createFairQueue, type FairQueue } from '../../limits/fair-queue.ts'
import type { Parts } from '../../parts/parts.ts'

export type DoorLimits = Pick<Parts, 'limits' | 'config'>

/** What the doors that take a body share: a client gets no more by coming in twice. */
export interface DoorBodies {
  /** Bytes of bodies that are read or worked on. */
  bodies: Budget
  /** Long bodies that wait to be read on, or to be parsed. */
  turns: FairQueue
}

const MIB = 1024 * 1024
export const BODY_LIMITS = { perClient: 4 * MIB, perNetwork: 16 * MIB, inAll: 64 * MIB }
/** A body longer than this (bytes) is read and parsed in its client's turn. */
export const LONG_BODY = 64 * 1024
/** As many as may be held: bytes are the bound. */
const TURNS = {
  perClient: BODY_LIMITS.perClient / LONG_BODY,
  inAll: BODY_LIMITS.inAll / LONG_BODY,
}

export function createDoorBodies(): DoorBodies {
  return { bodies: createBudget(BODY_LIMITS), turns: createFairQueue(TURNS) }
}

type NodeStream = NodeJS.EventEmitter & { destroyed: boolean }

/** The request as h3 hands it on: with the peer's address, and what it came in by. */
export type DoorRequest = Request & {
  ip?: string | undefined
  runtime?:
    | {
        node?: {
          req?: NodeStream & { pause(): unknown; resume(): unknown }
          res?: NodeStream | undefined
        }
      }
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
