import {
  type ListingFacts,
  MAX_SKILLS,
  MAX_TOOLS,
  type Operation,
  type ShownTool,
  type Skill,
  type Tool,
  type WrittenTool,
} from '../listing/listing-facts.ts'
import { findUrlFault, type UrlRules } from '../listing/target-url.ts'
import type { Interface, SeenAnswer, SeenOperation } from '../trust/evidence.ts'
import { toOperationKey } from '../wire/text.ts'
import type { Effect, HttpMethod } from '../wire/vocabulary.ts'

/** The result of our probe's call of an operation, with its time; texts stay in the evidence. */
export type SeenCall = Omit<SeenAnswer, 'saw' | 'verdict' | 'at'> & { at: string }

export type SurfaceOperation = Operation & { seen?: SeenCall }

export type Surface = ReturnType<typeof toSurface>

/** For a tool with unknown inputs. */
const ANY = { type: 'object' }

/** Beyond this a page does not help; rows written by people come first. */
const MAX_OPERATIONS = 200

/** People's fields win, one by one. Facts a machine read on the same origin come second. */
export function toSurface(
  facts: Pick<ListingFacts, 'http' | 'kind' | 'url' | 'tools' | 'skills'>,
  read: Interface | undefined,
  rules: UrlRules,
) {
  return {
    operations: facts.kind === 'http_api' ? mergeOperations(facts, read, rules) : [],
    tools: facts.kind === 'mcp_server' ? mergeTools(facts.tools ?? [], read?.tools ?? []) : [],
    skills: facts.kind === 'a2a_agent' ? mergeSkills(facts.skills ?? [], read?.skills ?? []) : [],
  }
}

function mergeTools(written: readonly WrittenTool[], read: readonly Tool[]): ShownTool[] {
  return mergeRows<WrittenTool>(written, read, ({ name }) => name)
    .slice(0, MAX_TOOLS)
    .map((tool) => {
      const { name, description = name, input_schema = ANY } = tool
      const effect = tool.effect ?? hintedEffect(tool)
      return { ...tool, description, input_schema, ...(effect !== undefined && { effect }) }
    })
}

function mergeSkills(written: readonly Skill[], read: readonly Skill[]): Skill[] {
  return mergeRows(written, read, ({ id }) => id).slice(0, MAX_SKILLS)
}

/** Written rows first, with what else was read of the same; then those that were only read. */
function mergeRows<Row extends object>(
  written: readonly Row[],
  read: readonly Row[],
  keyOf: (row: Row) => string,
): Row[] {
  const seen = new Map(read.map((row) => [keyOf(row), row]))
  const known = new Set(written.map(keyOf))
  return [
    ...written.map((row) => ({ ...seen.get(keyOf(row)), ...row })),
    ...read.filter((row) => !known.has(keyOf(row))),
  ]
}

function mergeOperations(
  { http, url }: Pick<ListingFacts, 'http' | 'url'>,
  read: Interface | undefined,
  rules: UrlRules,
): SurfaceOperation[] {
  const seen = (read?.operations ?? []).map((each) => withTime(each, read?.at ?? ''))
  const { origin } = new URL(url)
  const isOurs = findUrlFault(origin, rules) === null
  const known = new Set(http.map(toOperationKey))
  const found = seen.filter(
    (each) => known.has(toOperationKey(each)) || (isOurs && URL.parse(each.url)?.origin === origin),
  )
  return mergeRows<SurfaceOperation>(http, found, toOperationKey)
    .slice(0, MAX_OPERATIONS)
    .map(withEffect)
}

/** RFC 9110, 9.2.1: a GET is safe. What a POST changes only people can say. */
const EFFECT_BY_METHOD: Partial<Record<HttpMethod, Effect>> = {
  GET: 'read',
  PUT: 'write',
  PATCH: 'write',
  DELETE: 'delete',
}

function withEffect(operation: SurfaceOperation): SurfaceOperation {
  const effect = operation.effect ?? EFFECT_BY_METHOD[operation.method]
  return effect === undefined ? operation : { ...operation, effect }
}

/** By the seller's hints: a destructive tool may delete, so all that is known is that it writes. */
function hintedEffect({ read_only, destructive }: WrittenTool): Effect | undefined {
  if (read_only === true) return 'read'
  return read_only === false || destructive === true ? 'write' : undefined
}

function withTime({ seen, ...operation }: SeenOperation, at: string): SurfaceOperation {
  if (seen === undefined) return operation
  const { saw: _, verdict: _verdict, at: seenAt = at, ...answer } = seen
  return { ...operation, seen: { at: seenAt, ...answer } }
}
