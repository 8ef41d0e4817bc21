import { findValueFault } from '../listing/json-schema.ts'
import { isJsonObject, memberOf } from '../wire/json.ts'
import { parseJsonPath, readJsonPath } from './json-path.ts'
import { membersOf } from './task.ts'

/** What a seller's answer yields for a task: the output, or why there is none. */
export type TaskOutput = { output: Record<string, unknown> } | { fault: string }

/**
 * A task's output from one seller's answer, by the paths in the operation's map. Sellers write
 * numbers as text and text as numbers: the contract's type decides. A null is treated as absent.
 * @param answer JSON, or the text of another media type
 * @param map path in the answer, by member of the output
 */
export function readTaskOutput(
  schema: Readonly<Record<string, unknown>>,
  map: Readonly<Record<string, string>>,
  answer: unknown,
): TaskOutput {
  const members = membersOf(schema).flatMap((name) => {
    const path = parseJsonPath(memberOf(map, name)?.toString() ?? '')
    const found = path === null ? undefined : readJsonPath(answer, path)
    const value = asDeclared(memberOf(memberOf(schema, 'properties'), name), found)
    return value === undefined ? [] : [[name, value]]
  })
  const output: Record<string, unknown> = Object.fromEntries(members)
  const fault = findValueFault(schema, output)
  return fault === null ? { output } : { fault }
}

function asDeclared(schema: unknown, value: unknown): unknown {
  if (value === null || value === undefined) return undefined
  const type = memberOf(schema, 'type')
  if (Array.isArray(value))
    return type === 'array'
      ? value.map((each) => asDeclared(memberOf(schema, 'items'), each))
      : value
  if (isJsonObject(value)) return type === 'object' ? membersAsDeclared(schema, value) : value
  if (type === 'string' && typeof value === 'number') return String(value)
  if ((type === 'number' || type === 'integer') && isNumeric(value)) return Number(value)
  return value
}

function membersAsDeclared(schema: unknown, value: Record<string, unknown>) {
  const properties = memberOf(schema, 'properties')
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const declared = asDeclared(memberOf(properties, name), member)
      return declared === undefined ? [] : [[name, declared]]
    }),
  )
}

function isNumeric(value: unknown): value is string {
  return typeof value === 'string' && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value.trim())
}
