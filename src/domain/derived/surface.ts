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
import { membersOf, type TaskRow } from '../tasks/task.ts'
import type { Interface, SeenAnswer, SeenOperation } from '../trust/evidence.ts'
import { toOperationKey } from '../wire/text.ts'
import type { Effect, HttpMethod } from '../wire/vocabulary.ts'

/** The result of our probe of an operation, with its time; the answer's texts stay in the evidence. */
type SeenCall = Omit<SeenAnswer, 'saw' | 'verdict' | 'at'> & { at: string }

export type SurfaceOperation = Operation & {
  seen?: SeenCall
  /** Where in the answer each member of the task's output is; absent if the operation is not mapped. */
  result?: Record<string, string>
}

/** The input schema of a tool with unknown inputs. */
const ANY = { type: 'object' }

/** The most operations that a page shows; rows written by people come first. */
const MAX_OPERATIONS = 200

/**
 * Merges facts that people wrote with facts that a machine read on the same origin; people's facts
 * win, field by field. A tool whose description only repeats its name is shown by its name.
 */
export function toSurface(
  facts: Pick<ListingFacts, 'http' | 'kind' | 'url' | 'tools' | 'skills'>,
  read: Interface | undefined,
  rules: UrlRules,
  tasks: readonly TaskRow[] = [],
) {
  const operations = facts.kind === 'http_api' ? mergeOperations(facts, read, rules) : []
  return {
    operations: operations.map((operation) => withResult(operation, tasks)),
    tools: facts.kind === 'mcp_server' ? mergeTools(facts.tools ?? [], read?.tools ?? []) : [],
    skills: facts.kind === 'a2a_agent' ? mergeSkills(facts.skills ?? [], read?.skills ?? []) : [],
  }
}

function mergeTools(written: readonly WrittenTool[], read: readonly Tool[]): ShownTool[] {
  const seen = new Map(read.map((tool) => [tool.name, tool]))
  const known = new Set(written.map(({ name }) => name))
  const merged: ShownTool[] = written.map(({ input_schema, ...tool }) => {
    const read = seen.get(tool.name)
    const description = tool.description ?? read?.description ?? tool.name
    return {
      ...read,
      ...tool,
      description,
      input_schema: input_schema ?? read?.input_schema ?? ANY,
    }
  })
  return [...merged, ...read.filter(({ name }) => !known.has(name))]
    .slice(0, MAX_TOOLS)
    .map((tool: ShownTool) => {
      const description = saysMoreThanName(tool) ? tool.description : tool.name
      const effect = tool.effect ?? hintedEffect(tool)
      return { ...tool, description, ...(effect !== undefined && { effect }) }
    })
}

function mergeSkills(written: readonly Skill[], read: readonly Skill[]): Skill[] {
  return mergeRows(written, read, ({ id }) => id).slice(0, MAX_SKILLS)
}

/** Rows that people wrote, completed with what a machine read; then rows that only a machine read. */
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

/** RFC 9110, 9.2.1: a GET is safe. Only people can say what a POST changes. */
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

function withResult(operation: SurfaceOperation, tasks: readonly TaskRow[]): SurfaceOperation {
  const { map, task } = operation
  if (map === undefined) return operation
  const members = membersOf(tasks.find(({ id }) => id === task)?.output)
  const found = Object.entries(map).filter(([member]) => members.includes(member))
  return { ...operation, ...(found.length > 0 && { result: Object.fromEntries(found) }) }
}

/** The effect according to the seller's hints. A tool marked destructive certainly writes; whether it deletes is unknown. */
function hintedEffect({ read_only, destructive }: Tool): Effect | undefined {
  if (read_only === true) return 'read'
  return read_only === false || destructive === true ? 'write' : undefined
}

function withTime({ seen, ...operation }: SeenOperation, at: string): SurfaceOperation {
  if (seen === undefined) return operation
  const { saw: _, verdict: _verdict, at: seenAt = at, ...answer } = seen
  return { ...operation, seen: { at: seenAt, ...answer } }
}

/**
 * Whether a tool's description says more than its name and its inputs. "Lists artifacts; may take
 * params." for `list_artifacts` does not: such a description is omitted everywhere.
 */
export function saysMoreThanName({ name, description }: Named): boolean {
  const known = new Set(toWords(name).flatMap(toStems))
  const glued = name.toLowerCase().replace(/[^a-z0-9]/g, '')
  // The schema already has the tool's inputs.
  const sentence = description.replace(/; (?:needs|may take|takes)\b.*$/s, '')
  const words = toWords(sentence.replace(/\.$/, ''))
  return words.some((word) => {
    const isIn = (stem: string) =>
      known.has(stem) || VERBS.has(stem) || (stem.length >= LETTERS && glued.includes(stem))
    return !FILLERS.has(word) && !toStems(word).some(isIn)
  })
}

interface Named {
  name: string
  description: string
}

/**
 * The fewest letters in a word that is looked for inside a name, as `medrxiv` in `med_rxiv`:
 * shorter words match by chance.
 */
const LETTERS = 3

/** Verbs that add nothing to a name: `get_user` may list, get, show or read a user. */
const VERBS = new Set(
  `add change check convert create delete do edit execute fetch find get give inspect list look make
  manage read remove retrieve return run say search send set show start take tell update write`.split(
    /\s+/,
  ),
)

const FILLERS = new Set(
  `a all an and any as at back by data for from given in information into is it item its many more new of
  on one or other out over several some that the their them this to up using via with your`.split(
    /\s+/,
  ),
)

/** @example toStems('queries') → ['queries', 'querie', 'quer', 'query'] */
function toStems(word: string): string[] {
  return [
    word,
    word.replace(/s$/, ''),
    word.replace(/es$/, ''),
    word.replace(/ies$/, 'y'),
    word.replace(/ing$/, ''),
    word.replace(/ing$/, 'e'),
    word.replace(/ed$/, ''),
  ]
}

function toWords(text: string): string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
}
