import type { Operation, Param } from '../../src/domain/listing/operation.ts'
import { isJsonObject } from '../../src/domain/wire/parse-json.ts'
import { toSeedLine } from './seed-texts.ts'

/** Characters of one description. */
const MAX_DESCRIPTION = 300
/** How deep a schema is looked through; what lies deeper goes. */
const MAX_DEPTH = 12

/** Members of a JSON Schema that only people and agents read. */
const WORDS: ReadonlySet<string> = new Set(['description', 'title', '$comment'])

/**
 * A seller's operations with plain words alone: what gives orders to an agent, forges letters or is
 * no text goes, in a parameter's description and deep in a schema as in any other text.
 */
export function withPlainWords(operations: readonly Operation[]): Operation[] {
  return operations.map(({ description, params, body, response, ...rest }) => ({
    ...rest,
    ...lineOf(description),
    ...(params !== undefined && { params: params.map(toPlainParam) }),
    ...(body !== undefined && { body: toPlainPayload(body) }),
    ...(response !== undefined && { response: toPlainPayload(response) }),
  }))
}

function toPlainParam({ description, schema, ...rest }: Param): Param {
  return { ...rest, ...lineOf(description), ...schemaOf(schema) }
}

type Payload = NonNullable<Operation['body']>

function toPlainPayload({ schema, ...rest }: Payload): Payload {
  return { ...rest, ...schemaOf(schema) }
}

function lineOf(description: string | undefined): { description?: string } {
  const line = description === undefined ? null : toSeedLine(description, MAX_DESCRIPTION)
  return line === null ? {} : { description: line }
}

function schemaOf(schema: Record<string, unknown> | undefined): {
  schema?: Record<string, unknown>
} {
  const plain = schema === undefined ? undefined : toPlainSchema(schema, 0)
  return isJsonObject(plain) ? { schema: plain } : {}
}

/** @param place the member it stands under: below `properties` every name is the seller's own */
function toPlainSchema(value: unknown, depth: number, place = ''): unknown {
  if (depth > MAX_DEPTH) return {}
  if (Array.isArray(value)) return value.map((each) => toPlainSchema(each, depth + 1))
  if (!isJsonObject(value)) return value
  const isNames = place === 'properties' || place === '$defs' || place === 'definitions'
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (isNames || !WORDS.has(name) || typeof member !== 'string')
        return [[name, toPlainSchema(member, depth + 1, isNames ? '' : name)]]
      const line = toSeedLine(member, MAX_DESCRIPTION)
      return line === null ? [] : [[name, line]]
    }),
  )
}
