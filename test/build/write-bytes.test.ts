import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { writeBytes } from '../../src/store/objects.ts'

const folder = mkdtempSync(join(tmpdir(), 'write-bytes-'))
afterAll(() => rmSync(folder, { recursive: true }))

test.each([0, 1, 6, 7, 8, 50])('%i bytes written in pieces of 7 are read back', (length) => {
  const path = join(folder, `of-${length}`)
  const bytes = Uint8Array.from({ length }, (_, at) => at + 1)
  writeBytes(path, bytes, 7)
  expect(new Uint8Array(readFileSync(path))).toEqual(bytes)
})

test('what was in the file before is gone', () => {
  const path = join(folder, 'twice')
  writeBytes(path, new Uint8Array(20))
  writeBytes(path, Uint8Array.of(1, 2))
  expect([...readFileSync(path)]).toEqual([1, 2])
})
