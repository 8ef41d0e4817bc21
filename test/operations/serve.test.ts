import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BARE_ENV, FIXTURE_ENV } from '../support/fixture-env.ts'
import { findFreePort } from '../support/free-port.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** `npm run serve` where nothing is but a release, production dependencies and an empty folder. */
let folder: string
let server: ChildProcess | undefined
beforeEach(() => {
  folder = tempFolder('serve')
})
afterEach(() => server?.kill('SIGKILL'))

function serve(env: Record<string, string>) {
  const refusal = `--import=${resolve('test/support/refuse-builders.ts')}`
  const child = spawn(process.execPath, [refusal, resolve('functions/commands/serve.ts')], {
    cwd: folder,
    env: {
      ...BARE_ENV,
      BASE_URL: FIXTURE_ENV.BASE_URL,
      OUT_DIR: resolve(FIXTURE_ENV.OUT_DIR),
      CONTENT_DIR: '/nowhere',
      PORT: '0',
      ...env,
    },
  })
  server = child
  let stated = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      stated += String(chunk)
    })
  return { child, stated: () => stated }
}

test('a release is served without content and without what compiles it', async () => {
  const port = String(await findFreePort())
  const { child, stated } = serve({ PORT: port })
  await expect.poll(stated).toContain('Waypost is ready')
  const statuses = await Promise.all(
    ['/healthz', '/', '/search?q=weather', '/api/v1/search?q=weather', '/listing/x402.weather'].map(
      async (path) => (await fetch(`http://127.0.0.1:${port}${path}`)).status,
    ),
  )
  expect(statuses).toEqual([200, 200, 200, 200, 200])
  child.kill('SIGTERM')
  expect((await once(child, 'exit'))[0]).toBe(0)
})

test('the packages of a protocol are loaded by the first who speaks it, not by a start', async () => {
  const port = String(await findFreePort())
  const { stated } = serve({
    PORT: port,
    ALSO_ABSENT: '^(?:@modelcontextprotocol|@a2a-js|light-my-request)(?:/|$)',
  })
  await expect.poll(stated).toContain('Waypost is ready')
  const ask = async (path: string, init: RequestInit = {}) =>
    (await fetch(`http://127.0.0.1:${port}${path}`, init)).status
  const message = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  expect([await ask('/mcp', message), await ask('/a2a', message)]).toEqual([500, 500])
  expect([await ask('/healthz'), await ask('/')]).toEqual([200, 200])
})

test('without a release it says how to get one, without a stack', async () => {
  const { child, stated } = serve({ OUT_DIR: folder })
  expect((await once(child, 'close'))[0]).toBe(1)
  expect(stated()).toMatch(/contains no release: build one with "npm run build"/)
  expect(stated()).not.toMatch(/\n\s+at /)
})

test('the Node it needs comes with the production dependencies', () => {
  const { dependencies, scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(Object.keys(dependencies)).toContain('node')
  expect(scripts.serve).toMatch(/^node .*functions\/commands\/serve\.ts$/)
})
