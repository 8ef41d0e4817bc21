import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { publishSmallRelease } from '../support/small-release.ts'

test('a page that was fetched before two switches finds its hashed files; before three, no more', async () => {
  const outDir = mkdtempSync(join(tmpdir(), 'kept-files-'))
  onTestFinished(() => rmSync(outDir, { recursive: true }))
  const served = (file: string) => join(outDir, 'current/public', file)
  const fetched: string[] = []
  for (const number of [1, 2, 3, 4]) {
    const sheet = `_astro/page.${number}.css`
    await publishSmallRelease(outDir, `release-${number}`, {
      'public/index.html': sheet,
      [`public/only/${number}.html`]: '',
      [`public/${sheet}`]: 'p { margin: 0 }\n'.repeat(100 + number),
    })
    fetched.unshift(readFileSync(served('index.html'), 'utf8'))
    const found = fetched.map(
      (file) => existsSync(served(file)) && existsSync(served(`${file}.br`)),
    )
    expect(found).toEqual([true, true, true, false].slice(0, number))
    expect(existsSync(served(`only/${number - 1}.html`))).toBe(false)
  }
})
