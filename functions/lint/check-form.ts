import type { IncomingMessage, ServerResponse } from 'node:http'
import type { H3Event } from 'h3'
import type { DeclaredRow } from '../../src/domain/derived/declared-call.ts'
import type { CheckAnswer } from '../../src/domain/lint/lint-report.ts'
import { findUrlFault } from '../../src/domain/listing/target-url.ts'
import type { ProbePlan } from '../../src/domain/probe/keep/probe-plan.ts'
import type { ProbeProtocol } from '../../src/domain/probe/read/finding.ts'
import { toInertLine } from '../../src/domain/probe/read/inert-text.ts'
import type { NotListedReason } from '../../src/domain/unlisted/not-listed.ts'
import { PROBE_PROTOCOLS } from '../../src/domain/wire/vocabulary.ts'
import { countForm, refuse, toProblem } from '../forms/form.ts'
import { findNameErrors, publicJson, refuseParameters, toQueryError } from '../http/problem.ts'
import { isOwnHost } from '../net/own-address.ts'
import { privateTargetsOf } from '../net/purposes.ts'
import type { Handler, Parts } from '../parts/parts.ts'
import {
  type AnonymousProbes,
  type Caller,
  toCaller,
  toPageCaller,
} from '../probe/anonymous-probes.ts'
import { findPlanAt, lintPlan, lintUrl, MAX_SHOWN_URL } from './lint-url.ts'

const NAMES = ['url', 'as']

export interface CheckRequest {
  url: string
  as: ProbeProtocol | undefined
  caller: Caller
}

export type Check = (request: CheckRequest) => Promise<CheckAnswer>

type CheckParts = Pick<Parts, 'config' | 'clock'> & {
  limits: Pick<Parts['limits'], 'take'>
  runs: AnonymousProbes
  plans: () => Promise<readonly ProbePlan[]>
  /** The listings' declarations of good answers, by which paid calls are judged. */
  declared: () => Promise<ReadonlyMap<string, DeclaredRow>>
  /** Why no listing has an address; null where one does. */
  whyNotListed: (url: string) => NotListedReason | null
}

/** The linter's report on an address, for HTTP and page. A listing's is probed as it declares. */
export function createCheck(parts: CheckParts): Check {
  const { config, limits, clock, runs, plans, declared, whyNotListed } = parts
  const ownUrl = new URL(config.BASE_URL)
  return async ({ url, as, caller }) => {
    if (url === '') return { kind: 'empty' }
    const fault = findUrlFault(url, { allowPrivate: privateTargetsOf('stranger', config) })
    if (fault !== null) return refuse('invalid-parameter', `${fault}.`)
    if (isOwnHost(new URL(url), ownUrl))
      return refuse('invalid-parameter', 'expected a service elsewhere: this is our own host.')
    const answer = await runs.run<CheckAnswer>(url, caller, async (client) => {
      const refused = await countForm({ limits }, 'check', 'checks', caller)
      if (refused !== null) return refused
      const now = () => clock.now()
      const plan = as === undefined ? findPlanAt(await plans(), url) : null
      if (plan === null) {
        const report = await lintUrl(url, as, client, now)
        const not_listed = whyNotListed(url)
        return { kind: 'report', report: { ...report, ...(not_listed && { not_listed }) } }
      }
      const own = [...(await declared()).values()].filter((row) => row.listing_id === plan.id)
      const target = toInertLine(url, MAX_SHOWN_URL)
      const report = await lintPlan(target, plan, client, now, { declared: own })
      const taken = `It is listed as ${plan.id}, and was asked as listed.`
      return { kind: 'report', report: { ...report, right: [taken, ...report.right] } }
    })
    return answer.kind === 'busy' ? { ...answer, kind: 'refused', code: 'rate-limited' } : answer
  }
}

export function createCheckPage(
  { config }: Pick<Parts, 'config'>,
  check: Check,
): (req: IncomingMessage, res: ServerResponse) => Promise<CheckAnswer> {
  return async (req, res) => {
    const query = new URL(req.url ?? '', 'http://x').searchParams
    return check({
      url: toAddress(query.get('url')?.trim() ?? ''),
      as: PROBE_PROTOCOLS.find((protocol) => protocol === query.get('as')),
      caller: toPageCaller(req, res, config),
    })
  }
}

/** People type a bare host. */
function toAddress(text: string): string {
  return text === '' || text.includes('://') ? text : `https://${text}`
}

/** `GET /api/v1/lint?url=&as=`: the report of `/sellers/check` for programs. */
export function createLint({ config, problem }: Pick<Parts, 'config' | 'problem'>, check: Check) {
  const lint: Handler = async (event: H3Event) => {
    const asked = readAsked(event.url.searchParams)
    if ('errors' in asked) return refuseParameters(problem, asked.errors)
    const answer = await check({ ...asked, caller: toCaller(event, config) })
    if (answer.kind === 'report') return publicJson(answer.report)
    if (answer.kind === 'empty')
      return refuseParameters(problem, [toQueryError('url', 'expected the address of a service.')])
    if (answer.code === 'invalid-parameter')
      return refuseParameters(problem, [toQueryError('url', answer.reason)])
    return toProblem(answer, problem)
  }
  return lint
}

function readAsked(query: URLSearchParams) {
  const errors = findNameErrors(query, NAMES)
  const as = PROBE_PROTOCOLS.find((protocol) => protocol === query.get('as'))
  if (query.has('as') && as === undefined)
    errors.push(toQueryError('as', 'expected one of these.', PROBE_PROTOCOLS))
  return errors.length > 0 ? { errors } : { url: query.get('url')?.trim() ?? '', as }
}
