import * as v from 'valibot'
import { findSchemaFault, findValueFault } from '../listing/json-schema.ts'
import { isJsonObject, memberOf } from '../wire/json.ts'
import { faultless, textLike } from '../wire/shapes.ts'

const MAX_WORDS = 80
const MAX_MEMBERS = 12

/** A plan's own parameters: members of a task's input cannot have these names. */
export const PLAN_PARAMETERS = ['max_price_usd', 'rail', 'network', 'limit'] as const

const line = v.pipe(v.string(), v.minLength(1), v.maxLength(1000))

/** A task's input or output: a JSON Schema for an object that names its members. */
const contractSide = v.pipe(
  v.record(v.string(), v.unknown(), 'expected a JSON Schema: an object'),
  faultless<Record<string, unknown>>(findSchemaFault),
  faultless<Record<string, unknown>>((schema) => {
    const count = membersOf(schema).length
    return schema.type === 'object' && count > 0 && count <= MAX_MEMBERS
      ? null
      : `expected a schema with "type: object" and 1 to ${MAX_MEMBERS} properties`
  }),
)

/** What a buyer wants done: the task's words and, if several sellers can do it, its contract. */
export const TaskRowSchema = v.pipe(
  v.strictObject({
    id: textLike(
      /^[a-z0-9]+(?:_[a-z0-9]+)*$/,
      'expected a lower-case identifier such as web_search',
    ),
    name: line,
    /**
     * Phrases that people use for the task, in any language. Word order matters: `address to
     * coordinates` is not `coordinates to address`. `|` separates words that mean the same. The
     * first phrase is an example that people are shown.
     */
    words: v.pipe(
      v.array(line),
      v.minLength(2, 'expected at least two phrases'),
      v.maxLength(MAX_WORDS, `expected at most ${MAX_WORDS} phrases`),
    ),
    /** Known services for the task, listed or not: a query for an alternative to one of them means this task. */
    like: v.optional(v.pipe(v.array(line), v.maxLength(MAX_WORDS))),
    /** The operations and tools that do the task, see `createTaskFinder`. */
    does: v.optional(v.pipe(v.array(line), v.maxLength(MAX_WORDS))),
    /** Input and output, the same for every seller. */
    input: v.optional(contractSide),
    output: v.optional(contractSide),
    /** An example input: when content is checked, each operation's map is filled with it. */
    example: v.optional(v.record(v.string(), v.unknown())),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    const fault = dataset.typed ? findContractFault(dataset.value) : null
    if (fault !== null) addIssue({ message: fault })
  }),
)
export type TaskRow = v.InferOutput<typeof TaskRowSchema>

/**
 * `content/tables/task-words.yaml`: more phrases that people use, by task id. There are many, so
 * only search reads them, and no page shows them. `content/tables/task-questions.yaml` has whole
 * questions as people ask them, in which word order is ignored.
 */
export const TaskWordsSchema = v.record(v.string(), v.array(line))

/** A task with its contract. */
export type Task = NonNullable<ReturnType<typeof toTask>>

/** The task with its contract; null if it only has words. */
export function toTask({ id, name, input, output, example }: TaskRow) {
  if (input === undefined || output === undefined || example === undefined) return null
  return { id, name, input, output, example }
}

/** Names of an input's or output's members. */
export function membersOf(schema: unknown): string[] {
  const properties = memberOf(schema, 'properties')
  return isJsonObject(properties) ? Object.keys(properties) : []
}

/** Required members. */
export function requiredOf(schema: unknown): string[] {
  const required = memberOf(schema, 'required')
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

function findContractFault(row: {
  input?: unknown
  output?: unknown
  example?: unknown
}): string | null {
  const { input, output, example } = row
  const given = [input, output, example].filter((part) => part !== undefined)
  if (given.length === 0) return null
  if (given.length < 3) return 'expected input, output and example together: they are one contract'
  const outputs = membersOf(output)
  const shared = membersOf(input).find((name) => outputs.includes(name))
  if (shared !== undefined)
    return `expected different names for input and output, got ${shared} in both: a map has only one entry for each name`
  const taken = membersOf(input).find((name) => PLAN_PARAMETERS.some((each) => each === name))
  if (taken !== undefined)
    return `expected a name other than ${taken}: a plan has a parameter of this name`
  const fault = findValueFault(input, example)
  return fault === null ? null : `example: ${fault}`
}
