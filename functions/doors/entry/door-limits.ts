import { clientKey } from '../../limits/client-key.ts'
import type { LimitName } from '../../limits/counter.ts'
import type { Parts } from '../../parts/parts.ts'

export type DoorLimits = Pick<Parts, 'limits' | 'config'>

/** The request as h3 hands it on: with the peer's address. */
export type DoorRequest = Request & { ip?: string | undefined }

/**
 * Counts `times` requests of the caller against a limit of our own API: doors share them, so that
 * nobody gets twice as much by coming in twice.
 *
 * @returns the fields an answer carries, whether it is a refusal or not
 */
export async function takeForDoor(
  { limits, config }: DoorLimits,
  name: LimitName,
  req: DoorRequest,
  times = 1,
): Promise<{ allowed: boolean; taken: Record<string, string> }> {
  const client = clientKey(req.ip, req.headers.get('x-forwarded-for'), config.TRUST_PROXY)
  let last = await limits.take(name, client)
  for (let count = 1; count < times && last.allowed; count += 1)
    last = await limits.take(name, client)
  return { allowed: last.allowed, taken: last.headers }
}
