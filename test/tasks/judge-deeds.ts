import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { FindOperations } from '../../functions/search/find-operations.ts'

/** A Tuesday. */
export const NOW = Date.UTC(2026, 10, 24, 12)

interface Task {
  ask: string
  right: string
  filled: string[]
  /** Words that name the task. */
  task: string
}

export const TASKS: Task[] = parse(readFileSync(join(import.meta.dirname, 'deeds.yaml'), 'utf8'))

/** What the first row of each question is worth: whether it is right, holds what was asked, may be called as it is. */
export function judgeTasks(find: FindOperations) {
  return TASKS.map(({ ask, right, filled }, at) => {
    const answer = find(`${new URLSearchParams({ q: ask, limit: '3' })}`)
    const first = 'results' in answer ? answer.results[0] : undefined
    const { name = '', url = '', example, bring = [], description = '' } = first?.operation ?? {}
    const shown = JSON.stringify(example ?? {})
    const isRight = new RegExp(right, 'i').test(`${name} ${url} ${description}`)
    const holds = filled.every((text) =>
      new RegExp(text.replace('(?i)', ''), 'i').test(shown + url),
    )
    const isComplete = !/<[A-Z0-9_]+>/.test(shown) && !/\{\w+\}/.test(example?.url ?? url)
    return {
      ...{ at, ask, isRight, row: `${first?.listing.id} ${name || url}`, shown },
      isFilled: isRight && holds && filled.length > 0,
      isCallable: isRight && holds && isComplete && bring.length === 0,
    }
  })
}

export type JudgedTasks = ReturnType<typeof judgeTasks>

export function countTasks(rows: JudgedTasks, key: 'isRight' | 'isFilled' | 'isCallable'): number {
  return rows.filter((each) => each[key]).length
}
