import type { Decision, Question, ReviewSource } from '../../seeds/review/questions.ts'
import { OperatorError } from '../../src/domain/wire/problems.ts'

/**
 * Decides one question.
 *
 * @returns what was done
 * @throws OperatorError where it could not be done
 */
export async function settleOne(
  source: ReviewSource,
  question: Question,
  decision: Decision,
): Promise<string[]> {
  const [settled] = await source.settle([question], decision)
  if (settled?.fault !== undefined) throw new OperatorError(settled.fault)
  return settled?.done ?? []
}
