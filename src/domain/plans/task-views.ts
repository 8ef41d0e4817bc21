import * as v from 'valibot'
import type { TaskRow } from '../tasks/task.ts'
import type { TaskSeller } from './task-seller.ts'

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
  /** Listings that a plan chooses from. */
  sellers: v.number(),
  /** The address of the plan, with the members of the input as parameters. */
  plan: v.optional(v.string()),
})
export type TaskView = v.InferOutput<typeof TaskViewSchema>

/** `GET /api/v1/tasks`. */
export const TasksSchema = v.object({ tasks: v.array(TaskViewSchema) })

export function toTaskView(row: TaskRow, sellers: readonly TaskSeller[]): TaskView {
  const { id, name, words, input, output, example } = row
  const own = new Set(sellers.flatMap((each) => (each.task === id ? [each.seller.id] : [])))
  return {
    ...{ id, name, words },
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(example !== undefined && { example }),
    sellers: own.size,
    ...(input !== undefined && { plan: planPath(id) }),
  }
}

export function planPath(id: string): string {
  return `/api/v1/tasks/${id}/plan`
}
