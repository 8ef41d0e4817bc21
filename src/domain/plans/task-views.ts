import * as v from 'valibot'
import type { TaskRow } from '../tasks/task.ts'
import { smallestOf } from '../wire/extremes.ts'
import type { TaskOperation } from './task-operations.ts'

const schema = v.record(v.string(), v.unknown())

/** One task on the wire. */
export const TaskViewSchema = v.object({
  id: v.string(),
  name: v.string(),
  /** What people say for it; `|` stands between words that say the same. */
  words: v.array(v.string()),
  /** The contract: JSON Schemas of the input and the output; absent until it is written. */
  input: v.optional(schema),
  output: v.optional(schema),
  example: v.optional(v.record(v.string(), v.unknown())),
  /** Listings that do it. */
  sellers: v.number(),
  /** The lowest price of one call in US dollars: 0 where one is free; null where none is known. */
  min_usd: v.nullable(v.number()),
  /** The address of the plan, with the members of the input as parameters. */
  plan: v.optional(v.string()),
})
export type TaskView = v.InferOutput<typeof TaskViewSchema>

/** `GET /api/v1/tasks`. */
export const TasksSchema = v.object({ tasks: v.array(TaskViewSchema) })

export function toTaskView(row: TaskRow, operations: readonly TaskOperation[]): TaskView {
  const { id, name, words, input, output, example } = row
  const own = operations.filter(({ task }) => task === id)
  const prices = own.flatMap(({ usd }) => usd ?? [])
  return {
    ...{ id, name, words },
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(example !== undefined && { example }),
    sellers: new Set(own.map(({ listing }) => listing.id)).size,
    min_usd: prices.length === 0 ? null : smallestOf(prices),
    ...(input !== undefined && { plan: planPath(id) }),
  }
}

export function planPath(id: string): string {
  return `/api/v1/tasks/${id}/plan`
}
