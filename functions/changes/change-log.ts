import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import {
  type Change,
  ChangeSchema,
  type LogHead,
  LogHeadSchema,
} from '../../src/domain/changes/change-log.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'

/** The log of changes as builds write it beside the releases (`src/compile/release/record-changes.ts`). */
export interface ChangeLog {
  /** Null where no build kept one, as in a folder that holds a release alone. */
  head(): Promise<LogHead | null>
  /** Rows after `seq` up to `last`, at most `limit` of them. */
  rows(head: LogHead, after: number, last: number, limit: number): Promise<Change[]>
}

export function createChangeLog(outDir: string): ChangeLog {
  const dir = join(outDir, 'changes')
  let known: { stamp: string; head: LogHead | null } | undefined
  return {
    async head() {
      const path = join(dir, 'head.json')
      const info = await stat(path).catch(() => null)
      if (info === null) return null
      const stamp = `${info.ino} ${info.mtimeMs} ${info.size}`
      if (known?.stamp !== stamp) known = { stamp, head: await readHead(path) }
      return known.head
    },
    async rows(head, after, last, limit) {
      const rows: Change[] = []
      for (const part of head.parts) {
        if (part.last <= after || part.first > last) continue
        const lines = (await readFile(join(dir, part.file), 'utf8')).split('\n')
        // Rows of a part are consecutive: the ones before are not even read as JSON.
        const from = Math.max(0, after + 1 - part.first)
        const room = Math.min(limit - rows.length, last - part.first + 1 - from)
        for (const line of lines.slice(from, from + room).filter((text) => text !== ''))
          rows.push(v.parse(ChangeSchema, JSON.parse(line)))
        if (rows.length >= limit) break
      }
      return rows
    },
  }
}

async function readHead(path: string): Promise<LogHead | null> {
  const parsed = v.safeParse(LogHeadSchema, parseJson(await readFile(path, 'utf8')))
  return parsed.success ? parsed.output : null
}
