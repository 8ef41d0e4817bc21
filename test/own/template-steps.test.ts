import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findFreePort } from '../support/free-port.ts'
import { IS_LONG, longTest } from '../support/long.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** Every command that the README of a new directory prints is run as it stands there. */
const root = tempFolder('template')
const content = join(root, 'acme')
/** As a shell has it that was just opened. */
const env = {
  PATH: `${join(process.cwd(), 'node_modules/.bin')}:${process.env.PATH}`,
  HOME: root,
  NODE_OPTIONS: process.env.NODE_OPTIONS,
  // It would ask its registry for a newer npm.
  npm_config_update_notifier: 'false',
}
const running: ChildProcess[] = []
let steps: string[] = []
beforeAll(() => {
  execFileSync(process.execPath, ['functions/commands/new.ts', content, '--name', 'Acme Services'])
  const readme = readFileSync(join(content, 'README.md'), 'utf8')
  steps = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, code = '']) =>
    code.trimEnd().split('\n'),
  )
})
afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
})

const run = async (step = '') => (await promisify(execFile)('sh', ['-c', step], { env })).stdout
/** Takes the next step, which is one with these words. */
const take = (words: string) => {
  const step = steps.shift() ?? ''
  expect(step).toContain(words)
  return step
}

/** Starts a server by its step, asks it, and ends it as a service manager does. */
async function serve(step: string, path: string, headers = {}) {
  const port = await findFreePort()
  const child = spawn('sh', ['-c', `exec env PORT=${port} ${step}`], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  running.push(child)
  let stated = ''
  child.stdout.on('data', (chunk) => {
    stated += chunk
  })
  await expect.poll(() => stated, { timeout: 55_000 }).toMatch(/https?:\/\//)
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  const text = await answer.text()
  const ended = once(child, 'exit')
  process.kill(-(child.pid ?? 0), 'SIGTERM')
  await ended
  return { status: answer.status, text }
}

test('a new directory has no fault and no warning, and is served', async () => {
  expect(await run(take('npm run check'))).toMatch(/\b1 listings.* 0 errors, 0 warnings\n$/)
  const start = take('npm start')
  if (!IS_LONG) return
  const home = await serve(start, '/')
  expect([home.status, home.text]).toEqual([200, expect.stringContaining('Acme Services')])
})

longTest('its examples are sound, and its policy holds the one MCP server among them', async () => {
  await run(take('cp -r'))
  expect(await run(take('npm run check'))).toMatch(/5 listings.* 0 errors, 4 warnings\n$/)
})

longTest('what it imports waits for a person', async () => {
  // The one thing that a test does not do: read the registry itself.
  const [command] = take('npm run seed').split('#')
  const saved = 'test/fixtures/mcp-registry/page-1.json'
  expect(await run(`${command} --from ${saved}`)).toMatch(/[1-9]\d* +added, and wait/)
  expect(await run(take('npm run review'))).toContain('mcp-registry')
})

longTest('it is built for its own address and served without its content', async () => {
  await run(take('npm run build'))
  const { text } = await serve(take('npm run serve'), '/policies/approved/v0.1/servers')
  expect(JSON.parse(text).servers).toMatchObject([{ server: { title: 'Example notes' } }])
})

longTest('closed, it is read with the token that was printed', async () => {
  const token = /[\w-]{40,}/.exec(await run(take('npm run access')))?.[0]
  const step = take('READ_ACCESS=token')
  expect((await serve(step, '/api/v1/stats')).status).toBe(401)
  const headers = { authorization: `Bearer ${token}` }
  expect((await serve(step, '/api/v1/stats', headers)).status).toBe(200)
  expect(steps).toEqual([])
})
