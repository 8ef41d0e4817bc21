import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseConfig } from '../../functions/ports/config.ts'
import { runMain } from '../../functions/ports/run-main.ts'
import { readContent } from '../../src/content/read.ts'
import type { ListingFacts } from '../../src/domain/listing/listing-facts.ts'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import { createTaskFinder, toPathName } from '../../src/search/words/operation-tasks.ts'
import { listingFileOf, openContent } from '../content/content-files.ts'

/**
 * `npm run tasks`: writes `task:` to the operations and tools of listings that have none, where
 * `does` of `tables/tasks.yaml` names one. People read the difference before they commit it, and
 * what they write is never changed.
 */
await runMain(async () => {
  const { CONTENT_DIR: root, PRIVATE_TARGETS: allowPrivate } = parseConfig(process.env)
  const { content } = readContent(root, { allowPrivate })
  if (content === null) throw new OperatorError('the content has errors: run npm run check')
  const findTask = createTaskFinder(content.tables.tasks)
  const writer = await openContent(root)
  try {
    let count = 0
    for (const { id, facts } of content.listings) {
      const lines = toTaskLines(id, facts, findTask)
      if (lines.length === 0) continue
      const file = listingFileOf(id)
      const before = await readFile(join(root, file), 'utf8')
      const after = lines.reduce((text, line) => line(text), before)
      if (after === before) continue
      await writer.write(file, after)
      count += lines.length
    }
    console.log(`${count} operations and tools have a task now`)
  } finally {
    await writer.release()
  }
})

/** For each operation and tool that gets a task, what writes it into the file. */
function toTaskLines(
  id: string,
  facts: ListingFacts,
  findTask: ReturnType<typeof createTaskFinder>,
): ((text: string) => string)[] {
  const listing = { ...facts, id }
  const operations = (facts.kind === 'http_api' ? facts.http : []).flatMap((operation) => {
    const { method, url, description, task } = operation
    if (task !== undefined) return []
    const found = findTask({ name: toPathName(url), description, kind: 'operation' }, listing)
    const start = `  - method: ${method}\n    url: ["']?${escapeForRegExp(url)}["']?\n(?:    description: .*\n)?`
    return found === null ? [] : [insertBehind(new RegExp(start), `    task: ${found}\n`)]
  })
  const tools = (facts.kind === 'mcp_server' ? (facts.tools ?? []) : []).flatMap((tool) => {
    const { name, description, task } = tool
    if (task !== undefined) return []
    const found = findTask({ name, description, kind: 'tool' }, listing)
    const start = `\n  - \\{ name: ["']?${escapeForRegExp(name)}["']?(?=[, ])`
    return found === null ? [] : [insertBehind(new RegExp(start), `, task: ${found}`)]
  })
  return [...operations, ...tools]
}

function escapeForRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

function insertBehind(place: RegExp, text: string): (file: string) => string {
  return (file) => file.replace(place, (start) => `${start}${text}`)
}
