import * as v from 'valibot'
import { toAnswers, toOperationName } from '../probe/keep/merge-operations.ts'
import type { Finding } from '../probe/read/finding.ts'
import type { Refused } from '../wire/form-page.ts'
import { PROBE_PROTOCOLS } from '../wire/vocabulary.ts'
import { type Advice, type LintProblem, toAdvice } from './advice.ts'

export const LINT_VERDICTS = ['clean', 'problems', 'not_reached'] as const

/** One request of ours and what came back, as a seller can compare it with its own log. */
const AskedStepSchema = v.object({
  method: v.string(),
  url: v.string(),
  /** `status 402, application/json, 12 ms`, or why there was no answer. */
  came_back: v.string(),
})
export type AskedStep = v.InferOutput<typeof AskedStepSchema>

/** What the linter tells a seller about one address or listing. */
export const LintReportSchema = v.object({
  target: v.string(),
  /** The protocol of the address; null if we know none. */
  took_for: v.nullable(v.picklist(PROBE_PROTOCOLS)),
  /** In one line, what was seen there. */
  saw: v.string(),
  asked: v.array(AskedStepSchema),
  right: v.array(v.string()),
  problems: v.array(
    v.object({
      what: v.string(),
      /** What would be right. */
      change: v.string(),
    }),
  ),
  verdict: v.picklist(LINT_VERDICTS),
})
export type LintReport = v.InferOutput<typeof LintReportSchema>

/**
 * The report on the finding that decided, and on each other operation that was asked: lines name the
 * operation where there are several.
 *
 * @param own faults of the listing itself, found before
 */
export function toLintReport(
  target: string,
  finding: Finding,
  asked: readonly AskedStep[],
  own: readonly LintProblem[] = [],
): LintReport {
  const advice = toEveryAdvice(finding)
  const problems = [...own, ...advice.flatMap((each) => each.problems)]
  const isReached = finding.failure === undefined && finding.outcome !== 'unprobeable'
  return {
    target,
    took_for: finding.outcome === 'spoke' || finding.outcome === 'gated' ? finding.protocol : null,
    saw: finding.saw,
    asked: [...asked],
    right: advice.flatMap(({ right }) => right),
    problems,
    verdict: isReached ? (problems.length > 0 ? 'problems' : 'clean') : 'not_reached',
  }
}

function toEveryAdvice(finding: Finding): Advice[] {
  if (finding.others === undefined) return [toAdvice(finding)]
  return toAnswers(finding).map(({ operation, finding: answer }) => {
    const name = toOperationName(operation)
    const { right, problems } = toAdvice(answer)
    return {
      right: right.map((line) => `${name}: ${line}`),
      problems: problems.map(({ what, change }) => ({ what: `${name}: ${what}`, change })),
    }
  })
}

/** Which of several findings at one address says what it is: the best handshake, else the first. */
export function chooseFinding(findings: readonly Finding[]): Finding | undefined {
  return (
    findings.find(({ outcome }) => outcome === 'spoke') ??
    findings.find(({ outcome, sight }) => outcome === 'gated' && sight !== undefined) ??
    findings.find(({ outcome }) => outcome === 'gated') ??
    findings.find(({ outcome }) => outcome === 'unknown') ??
    findings[0]
  )
}

/** What the page that checks an address has to show. */
export type CheckAnswer = { kind: 'empty' } | Refused | { kind: 'report'; report: LintReport }
