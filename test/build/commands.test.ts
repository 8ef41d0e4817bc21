import { spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { parseConfig } from '../../functions/ports/config.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { listen } from '../support/listen.ts'
import { IS_LONG } from '../support/long.ts'
import { checkHere } from '../support/run-here.ts'
import { tempFolder } from '../support/temp-folder.ts'

function run(command: string, env: Record<string, string>) {
  const done = spawnSync(process.execPath, [`functions/commands/${command}.ts`], {
    env: { ...process.env, ...FIXTURE_ENV, ...env },
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { status: done.status, stated: done.stdout + done.stderr }
}

describe('npm run check', () => {
  test.each([
    ['BASE_URL', 'not a url', /BASE_URL: got "not a url", expected a URL such as/],
    ['BASE_URL', 'https://x.example/path', /BASE_URL: .*expected only scheme, host and port/],
    ['PORT', '99999999', /PORT: got "99999999", expected a whole number from 0 to 65535/],
    ['CONTENT_DIR', '/nowhere', /CONTENT_DIR \/nowhere: expected a content folder/],
  ])(
    'with a wrong %s (%s) says what would be right, without a stack',
    async (name, value, message) => {
      const { status, stdout, stderr } = await checkHere({
        ...FIXTURE_ENV,
        [name]: value,
      })
      expect(status).toBe(1)
      expect(stdout + stderr).toMatch(message)
      expect(stdout + stderr).not.toMatch(/\n\s+at |node:internal/)
    },
  )
})

test.each(IS_LONG ? ['build', 'start'] : ['start'])('npm run %s says the same', (command) => {
  const { status, stated } = run(command, { CONTENT_DIR: '/nowhere' })
  expect(status).toBe(1)
  expect(stated).toMatch(/CONTENT_DIR \/nowhere: expected a content folder/)
  expect(stated).not.toMatch(/\n\s+at |node:internal/)
})

test('npm run build says so when OUT_DIR cannot be written to', () => {
  const { status, stated } = run('build', { OUT_DIR: '/dev/null/dist' })
  expect(status).toBe(1)
  expect(stated).toMatch(/OUT_DIR .*cannot be used .*must be a folder that this user can write to/)
  expect(stated).not.toMatch(/\n\s+at /)
})

test('npm run serve ends, and says so, when its port is taken', async () => {
  const other = createServer()
  const PORT = String(await listen(other))
  const { OUT_DIR } = FIXTURE_ENV
  const { status, stated } = run('serve', {
    OUT_DIR,
    PORT,
    STATE_DIR: tempFolder('taken'),
  })
  other.close()
  expect(stated).toMatch(/cannot listen on 127\.0\.0\.1:\d+ \(EADDRINUSE\)/)
  expect(stated).not.toMatch(/\n\s+at /)
  expect(status).toBe(1)
}, 120_000)

test.each([
  [{}, 'http://localhost:4321'],
  [{ PORT: '5000' }, 'http://localhost:5000'],
  [{ PORT: '80' }, 'http://localhost'],
  [{ PORT: '5000', BASE_URL: 'https://directory.example/' }, 'https://directory.example'],
])('with %j every absolute URL begins with %s, in the build as on the server', (env, base) => {
  expect(parseConfig(env).BASE_URL).toBe(base)
})
