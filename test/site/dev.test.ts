import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { BARE_ENV } from '../support/fixture-env.ts'
import { findFreePort } from '../support/free-port.ts'
import { IS_LONG, longTest } from '../support/long.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder('dev')
const contentDir = join(folder, 'content')
let url = ''
/** A page that is asked for delays what shall show in it. */
const SELDOM = { interval: 300 }
let server: ChildProcess | undefined

beforeAll(async () => {
  cpSync('test/fixtures/content', contentDir, { recursive: true })
  // There the tables are links to ours, which are not to be written.
  rmSync(join(contentDir, 'tables'), { recursive: true })
  cpSync('content/tables', join(contentDir, 'tables'), { recursive: true })
  cpSync('test/fixtures/content/tables/site.yaml', join(contentDir, 'tables/site.yaml'))
  const port = await findFreePort()
  url = `http://127.0.0.1:${port}`
  // As npm runs a script: it hands a signal to the shell alone.
  server = spawn('sh', ['-c', `${process.execPath} functions/commands/dev.ts & wait`], {
    env: {
      // Nothing of the test runner's own: Vite looks at its variables.
      ...BARE_ENV,
      HOME: process.env.HOME,
      HOST: '127.0.0.1',
      PORT: String(port),
      BASE_URL: url,
      CONTENT_DIR: contentDir,
      OUT_DIR: join(folder, 'out'),
      STATE_DIR: join(folder, 'state'),
      RATE_LIMITS: '{"search":"off"}',
      ASTRO_TELEMETRY_DISABLED: '1',
      npm_lifecycle_script: 'node functions/commands/dev.ts',
    },
    stdio: 'ignore',
  })
  // In a fresh clone the server answers for a while before it can render its first page.
  await vi.waitFor(
    async () => expect(await read('/listing/mcp.harbour')).toContain('Ship movements'),
    { timeout: 220_000, interval: 500 },
  )
}, 240_000)
afterAll(async () => {
  if (server?.exitCode === null && server.signalCode === null) {
    server.kill()
    await once(server, 'exit')
  }
})

test('what is saved shows in page, API and search of the running server', async () => {
  const file = join(contentDir, 'listings/mcp/harbour.md')
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('Ship movements', 'Quokkas'))
  await expect.poll(() => read('/listing/mcp.harbour'), SELDOM).toContain('Quokkas and berths')
  await expect.poll(() => read('/api/v1/listings/mcp.harbour')).toContain('Quokkas and berths')
  await expect.poll(() => read('/api/v1/search?q=quokkas')).toContain('mcp.harbour')
  // The page that searches asks the same function.
  if (IS_LONG) await expect.poll(() => read('/search?q=quokkas')).toContain('/listing/mcp.harbour')
})

longTest('a new listing has a page, and a changed table its new words', async () => {
  const text = readFileSync(join(contentDir, 'listings/a2a/planner.md'), 'utf8')
  writeFileSync(
    join(contentDir, 'listings/a2a/second.md'),
    text.replaceAll('planner.example', 'second.example').replace('Trip Planner', 'Second Planner'),
  )
  await expect.poll(() => read('/listing/a2a.second')).toContain('Second Planner')
  await expect.poll(() => read('/api/v1/listings/a2a.second')).toContain('Second Planner')
  const table = join(contentDir, 'tables/categories.yaml')
  cpSync('content/tables/categories.yaml', table)
  writeFileSync(table, readFileSync(table, 'utf8').replace(/name: .*/, 'name: Wombats'))
  await expect.poll(() => read('/api/v1/categories')).toContain('Wombats')
  await expect.poll(() => read('/')).toContain('Wombats')
})

longTest('a broken file that is mended shows, and a removed listing is gone', async () => {
  const file = join(contentDir, 'listings/mcp/harbour.md')
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('---', '---\nname: ['))
  writeFileSync(file, text.replace('Quokkas', 'Wallabies'))
  rmSync(join(contentDir, 'listings/a2a/second.md'))
  await expect.poll(() => read('/listing/mcp.harbour')).toContain('Wallabies and berths')
  await expect.poll(() => read('/api/v1/listings/a2a.second')).not.toContain('Second Planner')
})

test('ends with the shell that npm stopped, and lets go of its port', async () => {
  server?.kill('SIGTERM')
  await expect.poll(() => read('/healthz'), { timeout: 20_000 }).toBe('')
})

async function read(path: string): Promise<string> {
  try {
    return await (await fetch(url + path)).text()
  } catch {
    return ''
  }
}
