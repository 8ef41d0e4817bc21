import {
  type AskedStep,
  type LintProblem,
  type LintReport,
  toLintReport,
} from '../../src/domain/lint/lint-report.ts'
import { judgeDrift } from '../../src/domain/probe/keep/drift-notices.ts'
import type { ProbePlan } from '../../src/domain/probe/keep/probe-plan.ts'
import { toInertLine } from '../../src/domain/probe/read/inert-text.ts'
import type { Asker } from '../probe/ask.ts'
import { toInstant } from '../probe/probe-content.ts'
import { shakeHands } from '../probe/shake-hands.ts'
import { MAX_SHOWN_URL, watch } from './lint-url.ts'

/**
 * Asks a listing's service as the prober does, operation by operation, and says where the answers and
 * the listing disagree.
 *
 * @param own faults of the listing itself, found before
 * @param now milliseconds since the epoch
 */
export async function lintPlan(
  target: string,
  plan: ProbePlan,
  asker: Pick<Asker, 'ask'>,
  now: () => number,
  own: readonly LintProblem[] = [],
): Promise<LintReport> {
  const asked: AskedStep[] = []
  const finding = await shakeHands(plan.handshake, { ask: watch(asker, asked) }, now)
  const drift = judgeDrift({}, finding, plan.declared, toInstant(now()))
  const drifted = drift.map(({ note }) => ({ what: note, change: 'Make the two agree.' }))
  return toLintReport(target, finding, asked, [...own, ...drifted])
}

/** The same for who entered an address: the report says which listing it was taken for. */
export async function lintListed(
  url: string,
  plan: ProbePlan,
  asker: Pick<Asker, 'ask'>,
  now: () => number,
): Promise<LintReport> {
  const report = await lintPlan(toInertLine(url, MAX_SHOWN_URL), plan, asker, now)
  return {
    ...report,
    right: [`It is listed as ${plan.id}, and was asked as listed.`, ...report.right],
  }
}

/**
 * The listing that has an operation at this address, or that alone stands on it where the address is a
 * bare origin. Its operations can then be asked with their own methods and examples.
 */
export function findPlanAt(plans: readonly ProbePlan[], url: string): ProbePlan | null {
  const wanted = new URL(url)
  wanted.hash = ''
  const exact = plans.find((plan) => addressesOf(plan).includes(wanted.href))
  if (exact !== undefined) return exact
  if (wanted.href !== `${wanted.origin}/`) return null
  const there = plans.filter((plan) =>
    addressesOf(plan).some((each) => URL.parse(each)?.origin === wanted.origin),
  )
  return there.length === 1 ? (there[0] ?? null) : null
}

/**
 * Its operations as they are declared and as they are asked. Only listings of operations have any; the
 * the others are asked at one address.
 */
function addressesOf({ handshake }: ProbePlan): string[] {
  if (handshake.kind !== 'payment' && handshake.kind !== 'http') return []
  return [handshake, ...(handshake.others ?? [])].flatMap(({ request, operation }) =>
    operation === undefined ? [request.url] : [request.url, operation.url],
  )
}
