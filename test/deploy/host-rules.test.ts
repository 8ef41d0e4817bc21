import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fileHeaders, toUrlPath } from '../../src/domain/wire/published-files.ts'
import { FILES, RELEASE_DIR } from './released-files.ts'

const read = (name: string) => readFileSync(join(RELEASE_DIR, 'deploy', name), 'utf8')

/** Blocks of `_headers`, as Netlify and Cloudflare Pages read them. */
function readBlocks(text: string): { path: string; headers: Map<string, string> }[] {
  const blocks: { path: string; headers: Map<string, string> }[] = []
  for (const line of text.trimEnd().split('\n'))
    if (line.startsWith('  ')) {
      const colon = line.indexOf(': ')
      blocks.at(-1)?.headers.set(line.slice(2, colon), line.slice(colon + 2))
    } else blocks.push({ path: line, headers: new Map() })
  return blocks
}

test('every file has exactly one block, and in it the headers of our own server', () => {
  const blocks = readBlocks(read('_headers'))
  // What Cloudflare Pages takes.
  expect(blocks.length).toBeLessThanOrEqual(100)
  for (const file of FILES) {
    const address = toUrlPath(file.file)
    const matching = blocks.filter(({ path }) =>
      path.endsWith('/*') ? address.startsWith(path.slice(0, -1)) : address === path,
    )
    expect(
      matching.map(({ path }) => path),
      address,
    ).toHaveLength(1)
    const { 'content-type': _type, vary: _vary, link, ...rest } = fileHeaders(file)
    expect(Object.fromEntries(matching[0]?.headers ?? []), address).toEqual({
      ...rest,
      // Markdown twins are too many for the rules of a static host.
      ...(matching[0]?.headers.has('link') && { link }),
      'strict-transport-security': 'max-age=63072000',
    })
  }
})

test('every address of JSON without an extension leads to its file, and nothing else', () => {
  const rules = read('_redirects')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(' '))
  const toFile = (address: string) => {
    for (const [from = '', to = '', status] of rules) {
      const names = [...from.matchAll(/:(\w+)/g)].map(([, name]) => name)
      const match = new RegExp(`^${from.replace(/:\w+/g, '([^/]+)')}$`).exec(address)
      if (match === null || status !== '200') continue
      return names.reduce<string>(
        (path, name = '', at) => path.replace(`:${name}`, match[at + 1] ?? ''),
        to,
      )
    }
    return null
  }
  const files = new Set(FILES.map(({ file }) => `/${file}`))
  for (const { file } of FILES) {
    const found = toFile(toUrlPath(file))
    if (file.endsWith('/index.json')) expect(found).toBe(`/${file}`)
    else expect(found === null || files.has(found), `${file} → ${found}`).toBe(true)
  }
})
