import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { move as moveListing } from '../../seeds/commands/move.ts'
import { readContent } from '../../src/content/read.ts'
import { type ContentFolder, createContentFolder, listingText } from '../support/content-folder.ts'
import { runHere } from '../support/run-here.ts'

const TEXT = listingText()
const SEEN = { probes: [{ at: '2026-11-20T00:00:00Z', protocol: 'x402', outcome: 'spoke' }] }

const COMPARISON = `title: Weather
updated: 2026-11-20
first_party: []
sections:
  - id: all
    title: All # of them, x402.foo too
    note: "Next to x402.foo."
    rows:
      - { id: x402.foo, focus: dedicated }
      - id: x402.foo
        focus: broad
`
const POLICY = `- id: approved
  name: Approved
  note: What we use.
  allow: ["x402.foo"]
`

let folder: ContentFolder
beforeAll(() => {
  folder = createContentFolder({
    'listings/x402/foo.md': TEXT,
    'evidence/x402/foo.json': JSON.stringify(SEEN),
    'compare/weather.yaml': COMPARISON,
    'tables/site.yaml': readFileSync('content/tables/site.yaml', 'utf8').replace(
      /^showcase: .*$/m,
      'showcase: [x402.foo]',
    ),
    'tables/policies.yaml': POLICY,
  })
})

const move = (...args: string[]) =>
  runHere(() => moveListing(args, { ...process.env, CONTENT_DIR: folder.dir }))

test('npm run move gives a listing another id, and leaves content that is sound', async () => {
  expect(await move('x402.foo', 'x402.bar', '--by', 'ann')).toMatchObject({ status: 0, stderr: '' })
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

test('comparisons, showcase and policies name it as it is called now, and change in nothing else', () => {
  const read = (file: string) => readFileSync(join(folder.dir, file), 'utf8')
  expect(read('compare/weather.yaml')).toBe(COMPARISON.replaceAll('id: x402.foo', 'id: x402.bar'))
  expect(read('tables/site.yaml')).toContain('\nshowcase: [x402.bar]\n')
  expect(read('tables/policies.yaml')).toBe(POLICY.replace('"x402.foo"', 'x402.bar'))
})

test.each([
  [['x402.foo'], 2, 'expected the former and the new id of a listing'],
  [['x402.bar', 'x402.bar'], 2, 'expected the former and the new id of a listing'],
  [['../../x', 'x402.new'], 2, 'expected the former and the new id of a listing'],
  [['x402.nobody', 'x402.new'], 1, 'listings/x402/nobody.md: expected a listing that exists'],
  [['x402.bar', 'x402.new', '--nope'], 2, 'npm run move -- <former id> <new id>'],
])('npm run move %j ends with %i', async (args, code, message) => {
  const { status, stderr } = await move(...args)
  expect(status).toBe(code)
  expect(stderr).toContain(message)
})

test('the page that says so is named as clients ask for it', async () => {
  const stated = await move('x402.bar', 'x402.baz', '--said-at', 'no-address')
  expect(stated.stderr).toContain('--said-at: expected an absolute URL')
  const page = ['--said-at', 'https://größe.dev/moved']
  expect(await move('x402.bar', 'x402.baz', ...page)).toMatchObject({ status: 0 })
  const { content } = readContent(folder.dir, { allowPrivate: false })
  expect(content?.tombstones.get('x402.bar')).toMatchObject({
    said_at: 'https://xn--gre-6ka8i.dev/moved',
  })
})
