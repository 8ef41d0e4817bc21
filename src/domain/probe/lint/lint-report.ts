import type { Finding, ProbeProtocol } from '../read/finding.ts'
import { type LintProblem, toAdvice } from './advice.ts'

/** One request of ours and what came back, as a seller can compare it with its own log. */
export interface AskedStep {
  method: string
  url: string
  /** `status 402, application/json, 12 ms`, or why there was no answer. */
  came_back: string
}

/** What the linter tells a seller about one address or listing. */
export interface LintReport {
  target: string
  /** What the address was taken for; null where it is none of ours. */
  took_for: ProbeProtocol | null
  /** In one line, what was seen there. */
  saw: string
  asked: AskedStep[]
  right: string[]
  problems: LintProblem[]
  verdict: LintVerdict
}

export const LINT_VERDICTS = ['clean', 'problems', 'not_reached'] as const
export type LintVerdict = (typeof LINT_VERDICTS)[number]

/** The report on the finding that decided. @param own faults of the listing itself, found before */
export function toLintReport(
  target: string,
  finding: Finding,
  asked: readonly AskedStep[],
  own: readonly LintProblem[] = [],
): LintReport {
  const { right, problems } = toAdvice(finding)
  const all = [...own, ...problems]
  const isReached = finding.failure === undefined && finding.outcome !== 'unprobeable'
  return {
    target,
    took_for: finding.outcome === 'spoke' || finding.outcome === 'gated' ? finding.protocol : null,
    saw: finding.saw,
    asked: [...asked],
    right,
    problems: all,
    verdict: isReached ? (all.length > 0 ? 'problems' : 'clean') : 'not_reached',
  }
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
