import { randomUUID } from 'node:crypto'
import { type Message, type Part, Role } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutor } from '@a2a-js/sdk/server'
import * as v from 'valibot'
import { MAX_QUERY_CHARACTERS } from '../../../src/domain/search/search-query.ts'
import type { Directory, SearchQueryText } from '../entry/directory.ts'

/** Results of a message that doesn't ask for a number. */
const RESULTS = 5

const DataSchema = v.record(v.string(), v.union([v.string(), v.number(), v.boolean()]))

/**
 * A message is a search: its text is the query, a data part may add the filters of
 * `GET /api/v1/search`. The answer is one message with one data part; no task is ever made.
 */
export function createSearchExecutor(directory: Directory): AgentExecutor {
  return {
    async execute({ userMessage, contextId }, bus) {
      bus.publish(AgentEvent.message(toMessage(answer(directory, userMessage), contextId)))
      bus.finished()
    },
    async cancelTask() {
      // There is never a task to cancel: the handler has said so before it comes here.
    },
  }
}

function answer(directory: Directory, { parts }: Message): Record<string, unknown> {
  const asked = readQuery(parts)
  if (typeof asked === 'string') return { error: asked }
  const { find, ...parameters } = asked
  if (find === 'operations') return answerOperations(directory, parameters)
  const found = directory.search({ limit: RESULTS, ...parameters })
  if ('problems' in found)
    return { error: 'These parameters cannot be used.', errors: [...found.problems] }
  const { rows: results, ...rest } = found
  return { ...rest, results }
}

/** A data part `{"find": "operations"}` asks for what to call instead of listings. */
function answerOperations(directory: Directory, asked: SearchQueryText): Record<string, unknown> {
  const found = directory.findOperations(asked)
  return 'problems' in found
    ? { error: 'These parameters cannot be used.', errors: [...found.problems] }
    : { ...found }
}

/** @returns the parameters of a search, or a sentence about what cannot be read. */
function readQuery(parts: readonly Part[]): SearchQueryText | string {
  const text = parts
    .flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : []))
    .join(' ')
    .trim()
  const data = parts.flatMap(({ content }) => (content?.$case === 'data' ? [content.value] : []))
  const filters: SearchQueryText = {}
  for (const part of data) {
    const parsed = v.safeParse(DataSchema, part)
    if (!parsed.success)
      return 'A data part holds search parameters: text, numbers and booleans by name.'
    Object.assign(filters, parsed.output)
  }
  if (text === '' && data.length === 0)
    return 'Send the task as a text part, or search parameters as a data part.'
  return { ...(text !== '' && { q: text.slice(0, MAX_QUERY_CHARACTERS) }), ...filters }
}

function toMessage(data: Record<string, unknown>, contextId: string): Message {
  return {
    messageId: randomUUID(),
    contextId,
    taskId: '',
    role: Role.ROLE_AGENT,
    parts: [
      {
        content: { $case: 'data', value: data },
        metadata: undefined,
        filename: '',
        mediaType: 'application/json',
      },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  }
}
