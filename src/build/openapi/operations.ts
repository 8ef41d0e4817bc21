import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { parse } from 'yaml'
import { PROBLEM_CODES } from '../../domain/wire/problems.ts'
import { DOCS_GROUPS, ROUTES } from '../../domain/wire/routes.ts'
import {
  CLICK_SOURCES,
  PROBE_PROTOCOLS,
  RAILS,
  SEARCH_VIEWS,
} from '../../domain/wire/vocabulary.ts'
import { isSchemaName, type SchemaName } from './schemas.ts'

const LISTS = {
  protocols: PROBE_PROTOCOLS,
  click_sources: CLICK_SOURCES,
  views: SEARCH_VIEWS,
  rails: RAILS,
}

/** Problems of every operation that takes a body. */
const OF_BODIES = [
  'invalid-body',
  'invalid-parameter',
  'cross-site',
  'unsupported-media-type',
  'payload-too-large',
  'rate-limited',
] as const

const ParameterSchema = v.strictObject({
  name: v.string(),
  in: v.optional(v.picklist(['query', 'header']), 'query'),
  description: v.string(),
  required: v.exactOptional(v.literal(true)),
  schema: v.optional(
    v.looseObject({
      type: v.string(),
      enum: v.exactOptional(v.picklist(['protocols', 'click_sources', 'views', 'rails'])),
    }),
    { type: 'string' },
  ),
  /** A value that can be sent as it is. */
  example: v.unknown(),
})

const name = v.custom<SchemaName>(isSchemaName, 'expected the name of a schema')

/** A row of `operations.yaml`. */
const OperationSchema = v.pipe(
  v.strictObject({
    tag: v.picklist(DOCS_GROUPS.flatMap(({ tag }) => tag ?? [])),
    summary: v.string(),
    /** One sentence on what the summary leaves out. */
    description: v.string(),
    /** Used instead by a directory without sellers, payments or trust. */
    bare: v.optional(
      v.strictObject({
        summary: v.exactOptional(v.string()),
        description: v.exactOptional(v.string()),
        answers: v.exactOptional(v.record(v.string(), v.string())),
      }),
      {},
    ),
    /** Schema of the body; absent where it is the seller's or empty. */
    answer: v.optional(name),
    /** The alternative answer where a parameter asks for it. */
    other_answer: v.optional(name),
    /** Its meaning, by status. */
    answers: v.optional(v.record(v.string(), v.string()), { 200: 'OK' }),
    /** Type of the body where it is not JSON. */
    media: v.optional(v.string()),
    body: v.optional(v.strictObject({ schema: name, example: v.record(v.string(), v.unknown()) })),
    /** Takes the cookie of a session. */
    for_sellers: v.optional(v.boolean(), false),
    writes: v.optional(v.boolean(), false),
    problems: v.optional(v.array(v.picklist(PROBLEM_CODES)), []),
    parameters: v.optional(v.array(ParameterSchema), []),
  }),
  v.transform(({ writes, problems, parameters, ...operation }) => ({
    ...operation,
    problems: [...(writes ? OF_BODIES : []), ...problems],
    parameters: parameters.map(({ schema, example, ...parameter }) => ({
      ...parameter,
      schema: { ...schema, ...(schema.enum !== undefined && { enum: LISTS[schema.enum] }) },
      example,
    })),
  })),
)
export type OperationFacts = v.InferOutput<typeof OperationSchema>

let known: Record<string, OperationFacts> | undefined

/**
 * By the names of the route table, in the order of the document. Read when it is first requested: a
 * build that finds its release current needs none.
 *
 * @throws Error that names the row and what would be right
 */
export function readOperations(): Record<string, OperationFacts> {
  known ??= parseOperations()
  return known
}

function parseOperations(): Record<string, OperationFacts> {
  const text = readFileSync(new URL('./operations.yaml', import.meta.url), 'utf8')
  const rows = v.record(v.picklist(Object.keys(ROUTES)), OperationSchema)
  const result = v.safeParse(rows, parse(text))
  if (result.success) return result.output
  const [issue] = result.issues
  throw new Error(`operations.yaml ${v.getDotPath(issue) ?? ''}: ${issue.message}`)
}
