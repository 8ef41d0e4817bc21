import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSearchIndex, verifyBodiesInSteps } from '../../functions/release/release.ts'
import { buildSearchIndex } from '../../src/search/index/build-index.ts'
import { readBody, readIndexHeader, SearchIndexError } from '../../src/search/index/index-file.ts'
import { sampleDocument } from '../search/search-samples.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder('open-index')

const documents = Array.from({ length: 1200 }, (_, at) =>
  sampleDocument({ id: `mcp.n${at}`, name: `listing ${at}` }),
)
const file = buildSearchIndex(documents)
const { headBytes } = readIndexHeader(file)
const IN_FILE = 0

/** The index with one byte changed, as a file. */
function damagedAt(at: number): string {
  const damaged = file.slice()
  damaged[at] = (damaged[at] ?? 0) ^ 1
  return written(`damaged-${at}`, damaged)
}

function written(name: string, bytes: Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

test('bodies that stay in the file are the same as in memory', async () => {
  const path = written('good', file)
  const [inFile, inMemory] = [openSearchIndex(path, IN_FILE), openSearchIndex(path)]
  await verifyBodiesInSteps(inFile)
  for (const row of [0, 7, 1199, 3])
    expect(Buffer.from(readBody(inFile, row)).toString()).toBe(
      Buffer.from(readBody(inMemory, row)).toString(),
    )
})

test.each([
  ['first', headBytes],
  ['last', file.length - 1],
])(
  'a damaged %s body that stays in the file is found when it is read, and by verifying',
  async (which, at) => {
    const index = openSearchIndex(damagedAt(at), IN_FILE)
    const [damaged, other] = which === 'first' ? [0, 1199] : [1199, 0]
    expect(() => readBody(index, damaged)).toThrow(SearchIndexError)
    expect(readBody(index, other).length).toBeGreaterThan(0)
    await expect(verifyBodiesInSteps(index)).rejects.toThrow(/damaged: its body of row/)
  },
)

test('a damaged body in memory is refused at once', () => {
  expect(() => openSearchIndex(damagedAt(headBytes + 5))).toThrow(SearchIndexError)
})

test('other work goes on while bodies are verified', async () => {
  const index = openSearchIndex(written('large', file), IN_FILE)
  let turns = 0
  const count = () => {
    turns += 1
    handle = setImmediate(count)
  }
  let handle = setImmediate(count)
  await verifyBodiesInSteps(index)
  clearImmediate(handle)
  expect(turns).toBeGreaterThan(1)
})
