import type { Parts } from '../../parts/parts.ts'
import { type Budget, createBudget, createFairQueue, type FairQueue } from '../../server/budget.ts'
import type { LimitName } from '../../server/rate-limits.ts'
import { clientOf } from '../../server/rate-limits.ts'

export type DoorLimits = Pick<Parts, 'limits' | 'config'>

/** Limits shared by the doors that take a body: a client gets no more by using two of them. */
export interface DoorBodies {
  /** Bytes of bodies being read or processed. */
  bodies: Budget
  /** Long bodies waiting for their next read or for parsing. */
  turns: FairQueue
}

const MIB = 1024 * 1024
export const BODY_LIMITS = { perClient: 4 * MIB, perNetwork: 16 * MIB, inAll: 64 * MIB }
/** A body longer than this (bytes) is read and parsed in its client's turn. */
export const LONG_BODY = 64 * 1024
/** As many as fit: bytes are the limit. */
const TURNS = {
  perClient: BODY_LIMITS.perClient / LONG_BODY,
  inAll: BODY_LIMITS.inAll / LONG_BODY,
}

export function createDoorBodies(): DoorBodies {
  return { bodies: createBudget(BODY_LIMITS), turns: createFairQueue(TURNS) }
}

type NodeStream = NodeJS.EventEmitter & { destroyed: boolean }

/** The request as h3 hands it on: with the peer's address and the connection's own fields. */
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
 * Counts `times` requests of the caller against a limit of our API that doors share.
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
