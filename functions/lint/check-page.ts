import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CheckAnswer } from '../../src/domain/lint/check-answer.ts'
import { findUrlFault } from '../../src/domain/listing/target-url.ts'
import type { ProbePlan } from '../../src/domain/probe/keep/probe-plan.ts'
import type { ProbeProtocol } from '../../src/domain/probe/read/finding.ts'
import { PROBE_PROTOCOLS } from '../../src/domain/wire/vocabulary.ts'
import { isOwnHost } from '../call/own-address.ts'
import type { Parts } from '../parts/parts.ts'
import { type Caller, type StrangerRuns, toPageCaller } from '../probe/stranger-runs.ts'
import { findPlanAt, lintListed } from './lint-listed.ts'
import { lintUrl } from './lint-url.ts'

export interface CheckRequest {
  url: string
  as: ProbeProtocol | undefined
  caller: Caller
}

export type Check = (request: CheckRequest) => Promise<CheckAnswer>

type CheckParts = Pick<Parts, 'config' | 'clock'> & {
  limits: Pick<Parts['limits'], 'take'>
  runs: StrangerRuns
  /** How the listings of the release are asked. */
  plans: () => Promise<readonly ProbePlan[]>
}

/**
 * The linter's report on an address for whoever asks, over HTTP or on a page: one limit for both. An
 * address of a listing is asked as the listing says, operation by operation.
 */
export function createCheck({ config, limits, clock, runs, plans }: CheckParts): Check {
  const own = new URL(config.BASE_URL)
  return async ({ url, as, caller }) => {
    if (url === '') return { kind: 'empty' }
    const fault = findUrlFault(url, { allowPrivate: config.UNSAFE_ALLOW_PRIVATE_TARGETS })
    if (fault !== null) return { kind: 'refused', status: 400, reason: `${fault}.` }
    if (isOwnHost(new URL(url), own))
      return {
        kind: 'refused',
        status: 400,
        reason: 'expected a service elsewhere: this is our own host.',
      }
    const answer = await runs.run<CheckAnswer>(url, caller, async (asker) => {
      const taken = await limits.take('check', caller.client)
      if (!taken.allowed) {
        const reason = `Too many checks from here; try again in ${taken.headers['Retry-After']} s.`
        return { kind: 'refused', status: 429, reason, headers: taken.headers }
      }
      const now = () => clock.now()
      const plan = as === undefined ? findPlanAt(await plans(), url) : null
      const report =
        plan === null ? await lintUrl(url, as, asker, now) : await lintListed(url, plan, asker, now)
      return { kind: 'report', report }
    })
    return answer.kind === 'busy' ? { ...answer, kind: 'refused', status: 429 } : answer
  }
}

/** What `/sellers/check?url=&as=` shows. */
export function createCheckPage(
  { config }: Pick<Parts, 'config'>,
  check: Check,
): (req: IncomingMessage, res: ServerResponse) => Promise<CheckAnswer> {
  return async (req, res) => {
    const query = new URL(req.url ?? '', 'http://x').searchParams
    return check({
      url: query.get('url')?.trim() ?? '',
      as: PROBE_PROTOCOLS.find((protocol) => protocol === query.get('as')),
      caller: toPageCaller(req, res, config),
    })
  }
}
