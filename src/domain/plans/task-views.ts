import * as v from 'valibot'
import type { TaskRow } from '../tasks/task.ts'
import { taskPath } from '../wire/links.ts'
import { compareTaskOffers, type OfferOfTask, TaskOfferSchema } from './task-offers.ts'

const schema = v.record(v.string(), v.unknown())

/** One task on the wire. */
export const TaskViewSchema = v.object({
  id: v.string(),
  name: v.string(),
  /** What people say for it; `|` stands between words that say the same. */
  words: v.array(v.string()),
  page: v.string(),
  /** Listings that do it. */
  sellers: v.number(),
  /** Lowest known price of one call in US dollars, 0 for free; null where none is known. */
  min_usd: v.nullable(v.number()),
  /** The contract: JSON Schemas of the input and the output; absent until it is written. */
  input: v.optional(schema),
  output: v.optional(schema),
  example: v.optional(v.record(v.string(), v.unknown())),
  /** The address of the plan, with the members of the input as parameters. */
  plan: v.optional(v.string()),
})
export type TaskView = v.InferOutput<typeof TaskViewSchema>

/** `GET /api/v1/tasks`. */
export const TasksSchema = v.object({ tasks: v.array(TaskViewSchema) })

/** `GET /api/v1/tasks/<id>`: with everybody who does it, free ones first, then by price. */
export const TaskPageSchema = v.object({
  ...TaskViewSchema.entries,
  offers: v.array(TaskOfferSchema),
})
export type TaskPage = v.InferOutput<typeof TaskPageSchema>

/** @param all offers of every task */
export function toTaskPages(rows: readonly TaskRow[], all: readonly OfferOfTask[]): TaskPage[] {
  const byTask = Map.groupBy(all, ({ task }) => task)
  return rows.map((row) => {
    const { id, name, words, input, output, example } = row
    const offers = (byTask.get(id) ?? []).map(({ offer }) => offer).sort(compareTaskOffers)
    const [first] = offers
    return {
      ...{ id, name, words, page: taskPath(id), sellers: offers.length },
      min_usd: first?.per === undefined ? (first?.usd ?? null) : null,
      ...(input !== undefined && { input, plan: planPath(id) }),
      ...(output !== undefined && { output }),
      ...(example !== undefined && { example }),
      offers,
    }
  })
}

/** For the list of all tasks. */
export function toTaskView({ offers: _, ...view }: TaskPage): TaskView {
  return view
}

export function planPath(id: string): string {
  return `/api/v1/tasks/${id}/plan`
}
