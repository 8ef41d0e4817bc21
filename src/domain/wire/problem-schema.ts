import * as v from 'valibot'
import { isProblemCode, PROBLEM_CODES } from './problems.ts'

/** `application/problem+json` of every JSON endpoint (RFC 9457). */
export const ProblemSchema = v.looseObject({
  type: v.string(),
  title: v.string(),
  status: v.pipe(v.number(), v.integer()),
  detail: v.string(),
  code: v.pipe(v.string(), v.check(isProblemCode), v.metadata({ enum: PROBLEM_CODES })),
  errors: v.optional(
    v.array(
      v.object({
        in: v.picklist(['query', 'path', 'header', 'body']),
        name: v.string(),
        detail: v.string(),
        allowed: v.optional(v.array(v.union([v.string(), v.number(), v.boolean()]))),
      }),
    ),
  ),
})
