import type { TaskPage } from '../../domain/plans/task-plan.ts'

const MOST = 4

/** Tasks that somebody here does, far apart in their table; none where it has none. */
export function toTaskLinks(tasks: readonly TaskPage[]): TaskPage[] {
  const done = tasks.filter(({ sellers }) => sellers > 0)
  const step = Math.ceil(done.length / MOST)
  return done.filter((_, at) => at % step === 0)
}
