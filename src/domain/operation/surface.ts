import type { ListingFacts } from '../listing/listing-facts.ts'
import type { Operation } from '../listing/operation.ts'
import { findUrlFault, type UrlRules } from '../listing/target-url.ts'
import {
  MAX_SKILLS,
  MAX_TOOLS,
  type ShownTool,
  type Skill,
  type Tool,
  type WrittenTool,
} from '../listing/tools-and-skills.ts'
import type { Interface, SeenOperation } from '../trust/interface.ts'
import type { SeenAnswer } from '../trust/seen-answer.ts'
import type { Effect } from '../wire/vocabulary.ts'
import { judgeEffect } from './effect.ts'
import { toOperationKey } from './is-at-address.ts'
import { saysMoreThanName } from './plain-description.ts'

/** The result of our probe's call of an operation, with its time; texts stay in the evidence. */
export type SeenCall = Omit<SeenAnswer, 'saw' | 'verdict' | 'at'> & { at: string }

/** Including what a call of it changes. */
export type SurfaceOperation = Operation & { effect: Effect; seen?: SeenCall }

export type Surface = ReturnType<typeof toSurface>

/** For a tool with unknown inputs. */
const ANY = { type: 'object' }

/** Beyond this a page does not help; rows written by people come first. */
const MAX_OPERATIONS = 200

/**
 * People's fields win, one by one. Facts a machine read on the same origin come second. A tool
 * whose sentence only repeats its name is shown by its name.
 */
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
  const seen = new Map(read.map((tool) => [tool.name, tool]))
  const known = new Set(written.map(({ name }) => name))
  const merged = written.map(({ input_schema, ...tool }) => {
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
    .map((tool) => {
      const { effect, isGuess } = judgeEffect(tool)
      const description = saysMoreThanName(tool) ? tool.description : tool.name
      return { ...tool, description, effect, ...(isGuess && { assumed: ['effect' as const] }) }
    })
}

function mergeSkills(written: readonly Skill[], read: readonly Skill[]): Skill[] {
  const seen = new Map(read.map((skill) => [skill.id, skill]))
  const known = new Set(written.map(({ id }) => id))
  const merged = written.map((skill) => ({ ...seen.get(skill.id), ...skill }))
  return [...merged, ...read.filter(({ id }) => !known.has(id))].slice(0, MAX_SKILLS)
}

function mergeOperations(
  { http, url }: Pick<ListingFacts, 'http' | 'url'>,
  read: Interface | undefined,
  rules: UrlRules,
): SurfaceOperation[] {
  const seen = new Map(
    (read?.operations ?? []).map((each) => [toOperationKey(each), withTime(each, read?.at ?? '')]),
  )
  const written = http.map((operation) => ({
    ...seen.get(toOperationKey(operation)),
    ...operation,
  }))
  const known = new Set(http.map(toOperationKey))
  const origin = new URL(url).origin
  const found = [...seen.values()].filter(
    (operation) =>
      !known.has(toOperationKey(operation)) &&
      URL.parse(operation.url)?.origin === origin &&
      findUrlFault(origin, rules) === null,
  )
  return [...written, ...found].slice(0, MAX_OPERATIONS).map(withEffect)
}

function withEffect(operation: TimedOperation): SurfaceOperation {
  const { url, assumed = [] } = operation
  const { effect, isGuess } = judgeEffect({ ...operation, name: lastPartOf(url) })
  return {
    ...operation,
    effect,
    ...(isGuess && { assumed: [...new Set([...assumed, 'effect' as const])] }),
  }
}

/**
 * What an address does, by its end. @example lastPartOf('https://x.example/v1/users/{id}/delete') →
 * 'users delete'
 */
export function lastPartOf(url: string): string {
  return new URL(url).pathname
    .split(/(?:[/{}]|%7B|%7D)+/)
    .filter((part) => part !== '' && !/^v?\d+$/.test(part))
    .slice(-2)
    .join(' ')
}

type TimedOperation = Omit<SurfaceOperation, 'effect'>

function withTime({ seen, ...operation }: SeenOperation, at: string): TimedOperation {
  if (seen === undefined) return operation
  const { saw: _, verdict: _verdict, at: seenAt = at, ...answer } = seen
  return { ...operation, seen: { at: seenAt, ...answer } }
}
