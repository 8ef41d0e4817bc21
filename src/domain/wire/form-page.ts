import type { ProblemCode } from './problems.ts'

/** Why something that was sent is not taken: the same words for programs and for people. */
export interface Refused {
  kind: 'refused'
  code: ProblemCode
  reason: string
  /** Field of the body that is wrong, where one is. */
  field?: string
  headers?: Record<string, string>
}

/** What the page of a form shows: the empty form, why it was refused, or what became of it. */
export interface FormPage<Answer, Sent> {
  answer: { kind: 'empty' } | Refused | Answer
  sent: Sent
}
