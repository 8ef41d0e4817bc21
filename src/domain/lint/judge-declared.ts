import { toOperationKey } from '../operation/is-at-address.ts'
import { toOperationName } from '../probe/keep/merge-operations.ts'
import { toInertLine } from '../probe/read/inert-text.ts'
import { jsonOf, mediaTypeOf, type ProbeAnswer } from '../probe/read/probe-answer.ts'
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

/** What came back from an operation to a call that nobody paid for. */
export interface HeardAnswer {
  operation: OperationName
  answer: ProbeAnswer
}

/** Of these the declaration may be the cause; no other verdict is about what it says. */
const OF_DECLARATION: ReadonlySet<DeliveryVerdict> = new Set([
  'other_shape',
  'empty',
  'error_in_200',
])
const MAX_PROBLEM = 300

/**
 * Judges what a listing declares by the rule that paid calls are judged by, so that a seller hears of a
 * wrong declaration before its receipts do. Free answers are judged; where only payment brings one, the
 * declared example is.
 */
export function judgeDeclared(
  declared: readonly DeclaredOperation[],
  heard: readonly HeardAnswer[],
): LintProblem[] {
  const answers = new Map(
    heard.map(({ operation, answer }) => [toOperationKey(operation), answer] as const),
  )
  return declared.flatMap((operation) => {
    const answer = answers.get(toOperationKey(operation))
    return [
      ...toProblem(operation, 'the declared example', judgeExample(operation.response)),
      ...toProblem(operation, 'the answer', answer && judgeHeard(operation.response, answer)),
    ]
  })
}

/** Without the example beside it: where the two disagree, either is right. */
function judgeExample({ content_type, schema, example }: DeclaredResponse): Judgement | undefined {
  if (example === undefined || !isJsonType(content_type)) return undefined
  const declared = { content_type, ...(schema !== undefined && { schema }) }
  return judgeJson(declared, content_type, JSON.stringify(example))
}

/** What is cut, or not JSON at all, is the handshake's to say. */
function judgeHeard(declared: DeclaredResponse, answer: ProbeAnswer): Judgement | undefined {
  const isGood = answer.status >= 200 && answer.status <= 299
  if (!isGood || !isJsonType(declared.content_type) || jsonOf(answer) === undefined)
    return undefined
  return judgeJson(declared, mediaTypeOf(answer), answer.body)
}

function judgeJson(declared: DeclaredResponse, content_type: string, text: string): Judgement {
  const body = new TextEncoder().encode(text)
  return judgeDelivery(declared, { status: 200, content_type, end: 'whole', body })
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
