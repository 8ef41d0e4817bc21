import type { ProblemCode } from './problems.ts'

/** Why a submission is refused: the same words for programs and for people. */
export interface Refused {
  kind: 'refused'
  code: ProblemCode
  reason: string
  /** Field of the body that is wrong, where one is. */
  field?: string
  headers?: Record<string, string>
}

/** State of a form's page: the empty form, the reason of a refusal, or the outcome. */
export interface FormPage<Answer, Sent> {
  answer: { kind: 'empty' } | Refused | Answer
  sent: Sent
}
