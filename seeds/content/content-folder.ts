import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { parseDocument } from 'yaml'
import { SourceRowSchema } from '../../src/domain/derived/source-table.ts'
import { CategoryRowSchema } from '../../src/domain/derived/tables.ts'
import { TaskRowSchema } from '../../src/domain/tasks/task.ts'

/** The category ids, the source rows and the tasks an importer may use. */
export function readTables(contentDir: string) {
  const read = (name: string): unknown => {
    const file = join(contentDir, 'tables', `${name}.yaml`)
    const text = existsSync(file) ? readFileSync(file, 'utf8') : null
    if (text === null) throw new Error(`${file}: expected a content folder with this table in it`)
    return parseDocument(text, { schema: 'core' }).toJS({ maxAliasCount: 0 })
  }
  const categories = v.parse(v.array(CategoryRowSchema), read('categories'))
  const sources = v.parse(v.array(SourceRowSchema), read('sources'))
  const tasks = v.parse(v.array(TaskRowSchema), read('tasks'))
  return { categories: new Set(categories.map(({ id }) => id)), sources, tasks }
}

export async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
