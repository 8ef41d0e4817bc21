import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { startService } from '../support/running-service.ts'

let root: string
let env: Record<string, string>
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'waypost-at-once-'))
  cpSync(FIXTURE_ENV.CONTENT_DIR, join(root, 'content'), { recursive: true })
  const parks = join(root, 'content/listings/api/open-parks.md')
  writeFileSync(parks, readFileSync(parks, 'utf8').replace('Free and', 'Free of charge and'))
  env = { ...FIXTURE_ENV, CONTENT_DIR: join(root, 'content'), OUT_DIR: join(root, 'dist') }
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function build(): Promise<{ code: unknown; said: string }> {
  const child = spawn(process.execPath, ['functions/commands/build.ts'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += String(chunk)
  })
  const [code] = await once(child, 'close')
  return { code, said }
}

test('of two builds at once one waits, finds the release there, and pages stay up', {
  timeout: 300_000,
}, async () => {
  const builds = await Promise.all([build(), build()])
  expect(builds.map(({ code }) => code)).toEqual([0, 0])
  const said = builds.map(({ said }) => said).join('')
  expect(said).toMatch(/another build is running in .*: waiting for it/)
  expect(said.match(/ {2}pages\n/g)).toHaveLength(1)
  expect(said.match(/is current/g)).toHaveLength(2)
  expect(readdirSync(join(root, 'dist/releases'))).toHaveLength(1)

  const waypost = await startService({ OUT_DIR: join(root, 'dist') })
  try {
    expect((await fetch(`${waypost.url}/search`)).status).toBe(200)
    expect((await build()).said).toContain('is current')
    await waypost.service.refresh()
    expect((await fetch(`${waypost.url}/search`)).status).toBe(200)
  } finally {
    await waypost.close()
  }
})
