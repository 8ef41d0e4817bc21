import type { Tables } from '../../domain/derived/tables.ts'

const MOST = 4

/** Words a directory's buyers use, of tasks far apart in its table; none where it has no tasks. */
export function toSearches(tasks: Tables['tasks']): string[] {
  const step = Math.ceil(tasks.length / MOST)
  return tasks.flatMap(({ words }, at) => (at % step === 0 ? (words[0] ?? []) : []))
}
