import type { IncomingMessage } from 'node:http'
import type { CheckAnswer } from '../../src/domain/lint/check-answer.ts'
import { findUrlFault } from '../../src/domain/listing/target-url.ts'
import type { ProbePlan } from '../../src/domain/probe/keep/probe-plan.ts'
import type { ProbeProtocol } from '../../src/domain/probe/read/finding.ts'
import { PROBE_PROTOCOLS } from '../../src/domain/wire/vocabulary.ts'
import { clientKey } from '../limits/client-key.ts'
import type { Parts } from '../parts/parts.ts'
import { createAsker, toUserAgent } from '../probe/ask.ts'
import { findPlanAt, lintListed } from './lint-listed.ts'
import { lintUrl } from './lint-url.ts'

/** Checks under way at once, over all clients: each may hold a connection for a while. */
const MOST_AT_ONCE = 8

export interface CheckRequest {
  url: string
  as: ProbeProtocol | undefined
  /** Key of the caller, as the limits know it. */
  client: string
}

export type Check = (request: CheckRequest) => Promise<CheckAnswer>

type CheckParts = Pick<Parts, 'config' | 'resolver' | 'clock'> & {
  limits: Pick<Parts['limits'], 'take'>
  /** How the listings of the release are asked. */
  plans: () => Promise<readonly ProbePlan[]>
}

/**
 * The linter's report on an address for whoever asks, over HTTP or on a page: one limit for both. An
 * address of a listing is asked as the listing says, operation by operation.
 */
export function createCheck({ config, resolver, limits, clock, plans }: CheckParts): Check {
  const allowPrivate = config.UNSAFE_ALLOW_PRIVATE_TARGETS
  let underWay = 0
  return async ({ url, as, client }) => {
    if (url === '') return { kind: 'empty' }
    const fault = findUrlFault(url, { allowPrivate })
    if (fault !== null) return { kind: 'refused', status: 400, reason: `${fault}.` }
    const taken = await limits.take('check', `page ${client}`)
    if (!taken.allowed) {
      const reason = `Too many checks from here; try again in ${taken.headers['Retry-After']} s.`
      return { kind: 'refused', status: 429, reason, headers: taken.headers }
    }
    if (underWay >= MOST_AT_ONCE)
      return {
        kind: 'refused',
        status: 503,
        reason: 'Many addresses are being checked just now; try again in a minute.',
      }
    underWay += 1
    const asker = createAsker({ resolver, allowPrivate, userAgent: toUserAgent(config.BASE_URL) })
    try {
      const now = () => clock.now()
      const plan = as === undefined ? findPlanAt(await plans(), url) : null
      const report =
        plan === null ? await lintUrl(url, as, asker, now) : await lintListed(url, plan, asker, now)
      return { kind: 'report', report }
    } finally {
      underWay -= 1
      await asker.close()
    }
  }
}

/** What `/sellers/check?url=&as=` shows. */
export function createCheckPage(
  { config }: Pick<Parts, 'config'>,
  check: Check,
): (req: IncomingMessage) => Promise<CheckAnswer> {
  return async (req) => {
    const query = new URL(req.url ?? '', 'http://x').searchParams
    const forwarded = String(req.headers['x-forwarded-for'] ?? '')
    return check({
      url: query.get('url')?.trim() ?? '',
      as: PROBE_PROTOCOLS.find((protocol) => protocol === query.get('as')),
      client: clientKey(req.socket.remoteAddress, forwarded, config.TRUST_PROXY),
    })
  }
}
