import * as v from 'valibot'
import { findNearestName } from '../../src/domain/wire/nearest-name.ts'
import { readJsonBody } from './json-body.ts'
import type { MakeProblem } from './problem.ts'

export type ObjectSchema = v.GenericSchema & { entries: v.ObjectEntries }

/**
 * The request's JSON body, parsed by its schema; a problem names each wrong field, and each that the
 * schema does not know: a misspelt `method` must not quietly become the default one.
 */
export async function parseBody<Schema extends ObjectSchema>(
  request: Request,
  schema: Schema,
  problem: MakeProblem,
): Promise<{ output: v.InferOutput<Schema> } | { refusal: Response }> {
  const { value, fault } = await readJsonBody(request)
  if (fault !== null) return { refusal: problem(fault.code, { detail: fault.detail }) }
  const parsed = v.safeParse(schema, value)
  if (parsed.success) return { output: parsed.output }
  const known = Object.keys(schema.entries)
  const errors = parsed.issues.map((issue) => {
    const name = v.getDotPath(issue) ?? ''
    const isUnknown = issue.type === 'strict_object' && issue.expected === 'never'
    return isUnknown
      ? { in: 'body' as const, name, detail: toUnknown(name, known), allowed: known }
      : { in: 'body' as const, name, detail: issue.message }
  })
  const names = errors.map(({ name }) => name).join(', ')
  const refusal = problem('invalid-parameter', {
    detail: `These fields of the body cannot be used: ${names}.`,
    errors,
  })
  return { refusal }
}

function toUnknown(name: string, known: readonly string[]): string {
  const nearest = findNearestName(name, known)
  return nearest === null
    ? `no such field; expected ${known.join(', ')}`
    : `no such field; did you mean ${nearest}?`
}
