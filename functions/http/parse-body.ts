import * as v from 'valibot'
import { readJsonBody } from './json-body.ts'
import type { MakeProblem } from './problem.ts'

/**
 * The request's JSON body, parsed by its schema; a problem names each wrong field. Fields the schema
 * does not know have no effect.
 */
export async function parseBody<Schema extends v.GenericSchema>(
  request: Request,
  schema: Schema,
  problem: MakeProblem,
): Promise<{ output: v.InferOutput<Schema> } | { refusal: Response }> {
  const { value, fault } = await readJsonBody(request)
  if (fault !== null) return { refusal: problem(fault.code, { detail: fault.detail }) }
  const parsed = v.safeParse(schema, value)
  if (parsed.success) return { output: parsed.output }
  const errors = parsed.issues.map((issue) => ({
    in: 'body' as const,
    name: v.getDotPath(issue) ?? '',
    detail: issue.message,
  }))
  const names = errors.map(({ name }) => name).join(', ')
  const refusal = problem('invalid-parameter', {
    detail: `These fields of the body cannot be used: ${names}.`,
    errors,
  })
  return { refusal }
}
