import { toAnswers, toOperationName } from '../probe/keep/merge-operations.ts'
import type { Finding } from '../probe/read/finding.ts'
import { toInertLine } from '../probe/read/inert-text.ts'
import type { ProbeAnswer } from '../probe/read/probe-answer.ts'
import type { DeclaredResponse, Judgement } from '../receipts/delivered-answer.ts'
import { isJsonType, judgeDelivery } from '../receipts/judge-delivery.ts'
import type { DeliveryVerdict, HttpMethod } from '../wire/vocabulary.ts'
import type { LintProblem } from './lint-report.ts'

interface OperationName {
  method: HttpMethod
  url: string
}

export interface DeclaredOperation extends OperationName {
  response: DeclaredResponse
}

/** Verdicts that the declaration may have caused; no other one concerns the declaration. */
const OF_DECLARATION: ReadonlySet<DeliveryVerdict> = new Set([
  'other_shape',
  'empty',
  'error_in_200',
])
const MAX_PROBLEM = 300

/**
 * Judges a listing's declarations by the rule for paid calls, so that a seller learns of a wrong
 * declaration before it shows in receipts. Judged are the probe's free answers; where an answer
 * requires payment, the declared example.
 */
export function judgeDeclared(
  declared: readonly DeclaredOperation[],
  finding: Finding,
): LintProblem[] {
  const examples = declared.flatMap((operation) =>
    toProblem(operation, 'the declared example', judgeExample(operation.response)),
  )
  const answers = toAnswers(finding).flatMap(({ operation, finding: { judged } }) =>
    toProblem(operation, 'the answer', judged),
  )
  return [...examples, ...answers]
}

/** Without the example next to it: where the two disagree, either may be right. */
function judgeExample({ content_type, schema, example }: DeclaredResponse): Judgement | undefined {
  if (example === undefined || !isJsonType(content_type)) return undefined
  const declared = { content_type, ...(schema !== undefined && { schema }) }
  const body = new TextEncoder().encode(JSON.stringify(example))
  return judgeDelivery(declared, { status: 200, content_type, end: 'whole', body })
}

/** Of a free answer; null where it was cut, or is binary, which a probe reads as text. */
export function judgeHeard(declared: DeclaredResponse, answer: ProbeAnswer): Judgement | null {
  const { content_type } = declared
  const isText = isJsonType(content_type) || content_type.startsWith('text/')
  if (answer.cut !== null || !isText) return null
  const body = new TextEncoder().encode(answer.body)
  return judgeDelivery(declared, { status: answer.status, content_type, end: 'whole', body })
}

function toProblem(
  operation: OperationName,
  subject: string,
  judged: Judgement | undefined,
): LintProblem[] {
  if (judged === undefined || !OF_DECLARATION.has(judged.verdict)) return []
  const { verdict, reason } = judged
  const what = `${toOperationName(operation)}: ${subject} would be judged ${verdict}: ${reason}`
  return [
    {
      what: toInertLine(what, MAX_PROBLEM),
      change:
        'Declare in response what a good answer holds, schema and example, or answer as declared: paid calls are judged by it.',
    },
  ]
}
