import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readContent } from '../../src/compile/content/read-content.ts'
import { type ContentFolder, createContentFolder, listingText } from '../support/content-folder.ts'

const TEXT = listingText()
const SEEN = { probes: [{ at: '2026-11-20T00:00:00Z', protocol: 'x402', outcome: 'spoke' }] }

let folder: ContentFolder
beforeAll(() => {
  folder = createContentFolder({
    'listings/x402/foo.md': TEXT,
    'evidence/x402/foo.json': JSON.stringify(SEEN),
  })
})
afterAll(() => folder.remove())

const move = (...args: string[]) =>
  spawnSync(process.execPath, ['seeds/commands/move.ts', ...args], {
    env: { ...process.env, CONTENT_DIR: folder.dir },
    encoding: 'utf8',
  })

test('npm run move gives a listing another id, and leaves content that is sound', () => {
  expect(move('x402.foo', 'x402.bar', '--by', 'ann')).toMatchObject({ status: 0, stderr: '' })
  const { content, faults } = readContent(folder.dir, { allowPrivate: false })
  expect(faults.filter(({ severity }) => severity === 'error')).toEqual([])
  expect(content?.listings.map(({ id }) => id)).toEqual(['x402.bar'])
  expect(content?.evidence.get('x402.bar')).toEqual(SEEN)
  expect(content?.tombstones.get('x402.foo')).toMatchObject({
    reason: 'moved',
    by: 'ann',
    moved_to: 'x402.bar',
    listing: TEXT,
  })
  expect(existsSync(join(folder.dir, 'evidence/x402/foo.json'))).toBe(false)
})

test.each([
  [['x402.foo'], 2, 'expected two ids of listings'],
  [['x402.bar', 'x402.bar'], 2, 'expected two ids of listings'],
  [['../../x', 'x402.new'], 2, 'expected two ids of listings'],
  [['x402.nobody', 'x402.new'], 1, 'listings/x402/nobody.md: expected a listing that exists'],
  [['x402.bar', 'x402.new', '--nope'], 2, 'npm run move -- <former id> <new id>'],
])('npm run move %j ends with %i', (args, code, message) => {
  const { status, stderr } = move(...args)
  expect(status).toBe(code)
  expect(stderr).toContain(message)
})
