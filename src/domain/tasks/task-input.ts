import { findValueFault } from '../listing/json-schema.ts'
import { memberOf, parseJson } from '../wire/json.ts'
import { membersOf, requiredOf, type Task } from './task.ts'

export interface InputFault {
  name: string
  detail: string
}

/** The members of a task's input from the texts of a query, by their types in the contract. */
export function readTaskInput(
  { input }: Pick<Task, 'input'>,
  texts: ReadonlyMap<string, string>,
): { input: Record<string, unknown> } | { faults: InputFault[] } {
  const members = membersOf(input).flatMap((name) => {
    const text = texts.get(name)
    return text === undefined ? [] : [[name, toTyped(schemaOf(input, name), text)] as const]
  })
  const faults = members.flatMap(([name, value]) => {
    const why = findValueFault(schemaOf(input, name), value)
    return why === null ? [] : [{ name, detail: why }]
  })
  const missing = requiredOf(input)
    .filter((name) => !texts.has(name))
    .map((name) => ({ name, detail: 'the task requires it' }))
  return faults.length + missing.length > 0
    ? { faults: [...missing, ...faults] }
    : { input: Object.fromEntries(members) }
}

/** A text of a query in the contract's type; text of another type stays, and is refused. */
function toTyped(schema: unknown, text: string): unknown {
  const type = memberOf(schema, 'type')
  if (type === 'number' || type === 'integer')
    return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
  if (type === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true'
  return type === 'array' || type === 'object' ? (parseJson(text) ?? text) : text
}

function schemaOf(input: unknown, name: string): Record<string, unknown> {
  return { ...Object(memberOf(memberOf(input, 'properties'), name)) }
}
