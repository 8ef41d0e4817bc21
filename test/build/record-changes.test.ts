import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { recordChanges } from '../../src/build/changes.ts'
import type { Change, LogHead } from '../../src/domain/sellers/change-log.ts'
import { putSmallRelease } from '../support/small-release.ts'
import { tempFolder } from '../support/temp-folder.ts'

let outDir: string
beforeEach(() => {
  outDir = tempFolder('changes')
})

/** What a release leaves for the log: a text for each listing stands for all its JSON. */
function release(
  name: string,
  listings: Record<string, string>,
  gone: Record<string, string> = {},
): void {
  const toText = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  putSmallRelease(outDir, name, {
    'data/content-hashes.ndjson': toText(
      Object.entries(listings).map(([id, summary]) => ({
        id,
        hash: summary,
        fields: { name: 'same', summary },
      })),
    ),
    'data/gone.ndjson': toText(
      Object.entries(gone).map(([id, reason]) => ({ id, at: null, reason })),
    ),
  })
}

const at = (day: number) => new Date(Date.UTC(2026, 10, day))
const head = (): LogHead => JSON.parse(readFileSync(join(outDir, 'changes/head.json'), 'utf8'))
const rows = (): Change[] =>
  head().parts.flatMap(({ file }) =>
    readFileSync(join(outDir, 'changes', file), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line)),
  )

describe('the log of changes', () => {
  test('begins with every listing of the first release', () => {
    release('a', { 'mcp.one': '1', 'mcp.two': '2' })
    recordChanges(outDir, 'a', at(1))
    expect(rows()).toEqual([
      { seq: 1, at: at(1).toISOString(), id: 'mcp.one', change: 'added' },
      { seq: 2, at: at(1).toISOString(), id: 'mcp.two', change: 'added' },
    ])
  })

  test('goes on by what differs, and says why a listing left', () => {
    release('a', { 'mcp.kept': '1', 'mcp.edited': '2', 'mcp.left': '3', 'mcp.deleted': '4' })
    release('b', { 'mcp.kept': '1', 'mcp.edited': '2b', 'mcp.new': '5' }, { 'mcp.left': 'dead' })
    recordChanges(outDir, 'a', at(1))
    recordChanges(outDir, 'b', at(2))
    const time = at(2).toISOString()
    expect(rows().slice(4)).toEqual([
      { seq: 5, at: time, id: 'mcp.deleted', change: 'removed' },
      { seq: 6, at: time, id: 'mcp.edited', change: 'changed', fields: ['summary'] },
      { seq: 7, at: time, id: 'mcp.left', change: 'removed', reason: 'dead' },
      { seq: 8, at: time, id: 'mcp.new', change: 'added' },
    ])
  })

  test('writes nothing twice, and going back is a change too', () => {
    release('a', { 'mcp.one': '1' })
    release('b', { 'mcp.one': '2' })
    for (const folder of ['a', 'a', 'b', 'b', 'a']) recordChanges(outDir, folder, at(1))
    expect(rows().map(({ change }) => change)).toEqual(['added', 'changed', 'changed'])
    expect(head()).toMatchObject({ release: 'a', seq: 3, before: { release: 'b', seq: 2 } })
  })

  test('never dates a publication before the one before it', () => {
    release('a', { 'mcp.one': '1' })
    release('b', { 'mcp.one': '2' })
    recordChanges(outDir, 'a', at(5))
    recordChanges(outDir, 'b', at(1))
    expect(rows().map((row) => row.at)).toEqual([at(5).toISOString(), at(5).toISOString()])
  })

  test('needs no release of before: its own hashes are beside it', () => {
    release('a', { 'mcp.one': '1', 'mcp.two': '2' })
    recordChanges(outDir, 'a', at(1))
    rmSync(join(outDir, 'releases/a'), { recursive: true })
    release('b', { 'mcp.one': '1' })
    recordChanges(outDir, 'b', at(2))
    expect(rows().at(-1)).toMatchObject({ id: 'mcp.two', change: 'removed' })
  })

  test('drops its oldest parts and what killed runs left, and nothing of anybody else', () => {
    const bounds = { partRows: 2, keptRows: 3 }
    release('a', { 'mcp.a': '1', 'mcp.b': '1', 'mcp.c': '1', 'mcp.d': '1', 'mcp.e': '1' })
    recordChanges(outDir, 'a', at(1), bounds)
    writeFileSync(join(outDir, 'changes', `${head().log}.99.ndjson`), 'half a ro')
    writeFileSync(join(outDir, 'changes/notes.txt'), 'mine')
    release('b', { 'mcp.a': '2' })
    recordChanges(outDir, 'b', at(2), bounds)
    expect(rows().map(({ seq }) => seq)).toEqual([8, 9, 10])
    const { log, hashes, parts } = head()
    expect(readdirSync(join(outDir, 'changes')).sort()).toEqual(
      ['head.json', 'notes.txt', hashes, ...parts.map(({ file }) => file)].sort(),
    )
    expect(parts.every(({ file }) => file.startsWith(log))).toBe(true)
  })

  test.each([
    ['its head', 'head.json'],
    ['its hashes', 'hashes'],
  ])('that lost %s begins anew under another name', (_what, suffix) => {
    release('a', { 'mcp.one': '1' })
    release('b', { 'mcp.one': '2' })
    recordChanges(outDir, 'a', at(1))
    const { log } = head()
    const file = readdirSync(join(outDir, 'changes')).find((name) => name.endsWith(suffix)) ?? ''
    writeFileSync(join(outDir, 'changes', file), '{"ver')
    recordChanges(outDir, 'b', at(2))
    expect(head().log).not.toBe(log)
    expect(rows().map(({ seq, change }) => [seq, change])).toEqual([[1, 'added']])
  })
})
