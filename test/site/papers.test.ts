import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const PAPERS = [
  ...['README.md', 'CONTRIBUTING.md'],
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]
const CODE_PATH =
  /`((?:src|functions|seeds|test|docs|content)\/[\w./[\]-]+\.(?:ts|astro|md|yaml|css|mjs))`/g

test.each(PAPERS)('every file that %s names exists', (paper) => {
  const named = [...readFileSync(paper, 'utf8').matchAll(CODE_PATH)].map(([, path = '']) => path)
  expect(named.filter((path) => !existsSync(path))).toEqual([])
})

test('links between papers lead to papers', () => {
  for (const paper of PAPERS) {
    const folder = paper.slice(0, paper.lastIndexOf('/') + 1)
    const links = [...readFileSync(paper, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
    const broken = links.map(([, to = '']) => folder + to).filter((to) => !existsSync(to))
    expect([paper, broken]).toEqual([paper, []])
  }
})

test('README stays within 8 kB', () => {
  expect(readFileSync('README.md').byteLength).toBeLessThanOrEqual(8_000)
})
