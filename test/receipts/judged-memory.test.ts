import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { IS_LONG } from '../support/long.ts'

test('a judged call takes two MiB at most, whatever it answers', () => {
  const script = fileURLToPath(new URL('judged-memory.ts', import.meta.url))
  const flags = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64']
  const reported: Record<string, [string, number]> = JSON.parse(
    execFileSync(process.execPath, [...flags, script], { encoding: 'utf8' }),
  )
  expect(Object.keys(reported).length).toBeGreaterThan(IS_LONG ? 15 : 10)
  for (const [kind, [verdict, mebibytes]] of Object.entries(reported)) {
    expect([kind, verdict]).toEqual([kind, kind.includes('markup') ? 'other_shape' : 'as_declared'])
    expect(mebibytes, kind).toBeLessThanOrEqual(2)
  }
})
