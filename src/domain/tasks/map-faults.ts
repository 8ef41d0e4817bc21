import { findValueFault, resolveReference } from '../listing/json-schema.ts'
import type { Operation } from '../listing/listing-facts.ts'
import { isJsonPayload } from '../listing/operation.ts'
import { isJsonObject, memberOf } from '../wire/json.ts'
import { fillRequest, takenBy, toSentValues } from './filled-request.ts'
import { type JsonPath, parseJsonPath } from './json-path.ts'
import { membersOf, requiredOf, type Task } from './task.ts'
import { readTaskOutput } from './task-output.ts'

interface MapFault {
  /** Path below the operation. */
  path: string[]
  message: string
}

/**
 * Errors in an operation's map to its task. The request, filled with the task's example, must fit
 * the operation's own schemas; the operation's example answer, once mapped, must fit the task's
 * output. If only a schema for the answer is known, each path must exist in that schema.
 */
export function findMapFaults(operation: Operation, task: Task | null): MapFault[] {
  const { map, send } = operation
  if (map === undefined)
    return send === undefined
      ? []
      : [{ path: ['send'], message: 'expected a `map` too, because `send` needs one' }]
  if (task === null)
    return [{ path: ['map'], message: 'expected a task that has an input and an output to map' }]
  const faults = [...findNameFaults(operation, task), ...findPathFaults(operation, task)]
  if (faults.length > 0) return faults
  return [...findRequestFaults(operation, task), ...findAnswerFaults(operation, task)]
}

function findNameFaults({ map = {}, send }: Operation, { input, output }: Task): MapFault[] {
  const known = [...membersOf(input), ...membersOf(output)]
  const taken = takenBy({ map, send })
  const unknown = [...taken].filter((name) => !known.includes(name))
  const needed = [
    ...requiredOf(input).filter((name) => !taken.has(name)),
    ...requiredOf(output).filter((name) => !Object.hasOwn(map, name)),
  ]
  return [
    ...unknown.map((name) => ({
      path: ['map'],
      message: `expected members of the task (${known.join(', ')}), got ${name}`,
    })),
    ...needed.map((name) => ({
      path: ['map'],
      message: `expected ${name} too: the task requires it`,
    })),
  ]
}

function findPathFaults({ map = {}, send = {}, params = [] }: Operation, task: Task): MapFault[] {
  const names = params.map(({ name }) => name)
  const outputs = membersOf(task.output)
  const destinations = [
    ...Object.keys(send).map((destination) => ['send', destination] as const),
    ...Object.entries(map).flatMap(([member, path]) =>
      outputs.includes(member) ? [] : [['map', path] as const],
    ),
  ]
  return [
    ...destinations.flatMap(([field, destination]) =>
      names.includes(destination) || isPlace(parseJsonPath(destination))
        ? []
        : [
            {
              path: [field],
              message: `expected the name of a parameter or a path in the body such as a.b[0], got ${JSON.stringify(destination)}`,
            },
          ],
    ),
    ...Object.entries(map).flatMap(([member, path]) =>
      outputs.includes(member) && parseJsonPath(path) === null
        ? [
            {
              path: ['map', member],
              message: `expected a path such as data[].{url: link}, got ${JSON.stringify(path)}`,
            },
          ]
        : [],
    ),
  ]
}

/** Whether a path names exactly one place. */
function isPlace(path: JsonPath | null): boolean {
  return path?.every((step) => 'member' in step || 'index' in step) === true && path.length > 0
}

function findRequestFaults(operation: Operation, { example }: Task): MapFault[] {
  const { params = [], body } = operation
  const values = toSentValues(operation, example)
  const request = fillRequest(operation, example)
  const isBodied = body?.schema !== undefined && operation.method !== 'GET'
  const fault = isBodied ? findValueFault(body.schema, request.body ?? {}) : null
  const names = params.map(({ name }) => name)
  const lost = [...values.keys()].filter((name) => !names.includes(name))
  return [
    ...params.flatMap(({ name, required, in: place, schema }) => {
      const value = values.get(name)
      if (value === undefined)
        return required === true || place === 'path'
          ? [{ path: ['map'], message: `expected a value for the required parameter ${name}` }]
          : []
      const why = schema === undefined ? null : findValueFault(schema, value)
      return why === null ? [] : [{ path: ['map'], message: `${name}: ${why}` }]
    }),
    ...(operation.method === 'GET' ? lost : []).map((name) => ({
      path: ['map'],
      message: `expected a parameter of this operation, got ${name}: anything else goes into the body, and a GET has none`,
    })),
    ...(fault === null ? [] : [{ path: ['map'], message: `the filled body: ${fault}` }]),
  ]
}

function findAnswerFaults({ map = {}, response }: Operation, task: Task): MapFault[] {
  const outputs = membersOf(task.output).filter((name) => Object.hasOwn(map, name))
  if (response === undefined)
    return [
      {
        path: ['map'],
        message: 'expected a `response`: the paths in `map` point into a documented answer',
      },
    ]
  if (!isJsonPayload(response)) return outputs.flatMap((name) => findTextFault(name, map[name]))
  if (response.example !== undefined) {
    const read = readTaskOutput(task.output, map, response.example)
    if ('fault' in read)
      return [{ path: ['map'], message: `the example answer, mapped: ${read.fault}` }]
  }
  const { schema } = response
  return outputs.flatMap((name) => {
    const path = parseJsonPath(map[name] ?? '')
    const missing = path && schema && findMissing(schema, path, schema)
    return missing
      ? [{ path: ['map', name], message: `expected a path in the answer: ${missing} is not in it` }]
      : []
  })
}

function findTextFault(name: string, path: string | undefined): MapFault[] {
  return path === '@'
    ? []
    : [{ path: ['map', name], message: 'the answer is not JSON: expected @, for its whole text' }]
}

/** A path's first member that is not in an answer's schema; null if all members are in it. */
function findMissing(schema: unknown, path: JsonPath, root: unknown): string | null {
  const [step, ...rest] = path
  if (step === undefined) return null
  const parts = partsOf(schema, root)
  if ('fields' in step) {
    const found = [...step.fields.values()].map((inner) => findMissing(schema, inner, root))
    return found.find((missing) => missing !== null) ?? null
  }
  if (!parts.some(saysOfItsInside)) return null
  const insides = parts.flatMap((part) => insideOf(part, step))
  if (insides.length === 0) return 'member' in step ? step.member : 'the list'
  const missing = insides.map((inside) => findMissing(inside, rest, root))
  return missing.includes(null) ? null : (missing[0] ?? null)
}

/** A schema, and the schemas that it combines. */
function partsOf(schema: unknown, root: unknown, depth = 0): unknown[] {
  if (!isJsonObject(schema) || depth > 8) return []
  const { $ref: reference, allOf, anyOf, oneOf } = schema
  const named = typeof reference === 'string' ? [resolveReference(root, reference)] : []
  const inner = [...named, ...[allOf, anyOf, oneOf].filter(Array.isArray).flat()]
  return [schema, ...inner.flatMap((part) => partsOf(part, root, depth + 1))]
}

/** Whether a schema states what is inside a value; without a schema, or if a long one was cut, anything is allowed. */
function saysOfItsInside(part: unknown): boolean {
  const properties = memberOf(part, 'properties')
  const hasMembers = isJsonObject(properties) && Object.keys(properties).length > 0
  return (
    hasMembers ||
    isJsonObject(memberOf(part, 'items')) ||
    Array.isArray(memberOf(part, 'prefixItems'))
  )
}

/** The schemas of a value one step further along a path. */
function insideOf(part: unknown, step: JsonPath[number]): unknown[] {
  const properties = memberOf(part, 'properties')
  const others = memberOf(part, 'additionalProperties')
  const items = memberOf(part, 'items')
  if ('each' in step || 'index' in step) {
    const first = memberOf(part, 'prefixItems')
    const placed = 'index' in step && Array.isArray(first) ? [first[step.index]] : []
    return [...placed, ...(isJsonObject(items) ? [items] : [])]
  }
  if ('only' in step)
    return [others, ...(isJsonObject(properties) ? Object.values(properties) : [])].filter(
      isJsonObject,
    )
  if (!('member' in step)) return []
  const own = memberOf(properties, step.member)
  return [own, others].filter(isJsonObject)
}
