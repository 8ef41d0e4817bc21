import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { PackagePlan } from '../../packages/run-check/fetch-package.ts'
import { PACKAGE_LIMITS, runPackage } from '../../packages/run-check/run-package.ts'
import { findSandbox } from '../../packages/run-check/sandbox.ts'
import { findFreePort } from '../support/free-port.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** The real bubblewrap. */
const { sandbox, fault } = await findSandbox('/usr/bin:/bin')
if (sandbox === null) console.warn(`skipped: no sandbox can be built here (${fault})`)

const LIMITS = { ...PACKAGE_LIMITS, runMs: 20_000, bytes: 2 * 1024 ** 2 }
const PLAN: PackagePlan = {
  registry: 'npm',
  identifier: 'hostile',
  version: null,
  env: {},
  args: [],
}

/** Tells this test's programs and folders from everybody's. */
const mark = `mark-${process.pid}-${Date.now()}`
const folder = tempFolder('run-check-sandbox')
chmodSync(folder, 0o755)
beforeAll(() => vi.stubEnv('TMPDIR', folder))
afterAll(() => vi.unstubAllEnvs())

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Runs the fixture in the sandbox; what a package manager would do is done by a copy. */
async function run(manner: string, words: string[] = [], limits = LIMITS) {
  if (sandbox === null) throw new Error('no sandbox')
  const { result, placeholders } = await runPackage(sandbox, PLAN, limits, async (plan, folder) => {
    copyFileSync('test/fixtures/packages/hostile.mjs', join(folder, 'hostile.mjs'))
    const command = ['node', '/package/hostile.mjs', manner, ...words, mark]
    return { folder, command, env: plan.env }
  })
  return { why: '', ...result, placeholders, names: result.tools?.map(({ name }) => name) ?? [] }
}

/** Programs of this test that are still there, and folders. */
function left(): string[] {
  const processes = readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark)
    } catch {
      return false
    }
  })
  return [...processes, ...readdirSync(folder)]
}

/** What programs of this test hold together. */
function weighMarked() {
  const total = { tasks: 0, bytes: 0 }
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark)) continue
      const status = readFileSync(`/proc/${pid}/status`, 'latin1')
      total.tasks += 1
      total.bytes += Number(/^RssAnon:\s*(\d+)/m.exec(status)?.[1] ?? 0) * 1024
    } catch {
      // It ended while it was looked at.
    }
  }
  return total
}

describe.skipIf(sandbox === null)('a package in a sandbox', () => {
  test('speaks, and its tools are read', async () => {
    expect(await run('polite')).toMatchObject({ outcome: 'runs_as_declared', names: ['find_ship'] })
  })

  test('sees nothing of this machine, writes nowhere and reaches nobody', async () => {
    const port = await findFreePort()
    const server = createServer().listen(port, '127.0.0.1')
    const called = vi.fn()
    server.on('connection', called)
    const home = mkdtempSync(join(homedir(), 'waypost-home-'))
    writeFileSync(join(home, 'key'), 'secret')
    process.env.WAYPOST_SECRET = 'x'
    closing.push(
      () => server.close(),
      () => rmSync(home, { recursive: true }),
      () => delete process.env.WAYPOST_SECRET,
    )
    const seen = await run('looks', [String(port), join(home, 'key')])
    expect(seen).toMatchObject({ outcome: 'runs_as_declared', names: [] })
    expect(called).not.toHaveBeenCalled()
  })

  test('makes the system calls of a list, and no others', async () => {
    expect(await run('calls')).toMatchObject({ outcome: 'runs_as_declared', names: [] })
  })

  test('finds no secret of this machine, of its operator or of what started it', async () => {
    const secret = `planted-${process.pid}`
    const elsewhere = mkdtempSync(join(homedir(), 'waypost-home-'))
    const planted = {
      HTTPS_PROXY: `http://user:${secret}@proxy.example:3128`,
      npm_config__authToken: secret,
      PIP_INDEX_URL: `https://user:${secret}@pypi.example/simple`,
      DOCKER_AUTH_CONFIG: secret,
      XDG_CONFIG_HOME: `/${secret}`,
      AWS_SECRET_ACCESS_KEY: secret,
    }
    for (const [name, value] of Object.entries(planted)) vi.stubEnv(name, value)
    writeFileSync(join(elsewhere, secret), secret)
    const shared = join('/usr/local', `waypost-${secret}`)
    const isRoot = process.getuid?.() === 0
    if (isRoot) writeFileSync(shared, secret)
    closing.push(
      () => rmSync(elsewhere, { recursive: true }),
      () => rmSync(shared, { force: true }),
      () => {
        for (const name of Object.keys(planted)) vi.stubEnv(name, undefined)
      },
    )
    const seen = await run('reads', [[...secret].toReversed().join('')])
    expect(seen).toMatchObject({ outcome: 'runs_as_declared', names: [] })
  })

  test.each([
    ['forks', 300, 3],
    ['eats', 20, 3],
    ['litters', 20, 1],
  ])('a bomb that %s meets its bound while it runs', async (manner, tasks, gib) => {
    const peak = { tasks: 0, bytes: 0 }
    const timer = setInterval(() => {
      const now = weighMarked()
      peak.tasks = Math.max(peak.tasks, now.tasks)
      peak.bytes = Math.max(peak.bytes, now.bytes)
    }, 20)
    const finding = await run(manner, [], { ...LIMITS, runMs: 8_000 })
    clearInterval(timer)
    console.log(
      `${manner}: ${peak.tasks} processes, ${peak.bytes >> 20} MiB at most: ${finding.why}`,
    )
    expect(finding.outcome).toBe('unknown')
    expect(peak.tasks).toBeGreaterThan(0)
    expect(peak.tasks).toBeLessThanOrEqual(tasks)
    expect(peak.bytes).toBeLessThanOrEqual(gib * 1024 ** 3)
    expect(left()).toEqual([])
  })

  test.each([
    ['hangs', 'unknown', 'no answer to initialize in time'],
    ['deaf', 'unknown', 'no answer to initialize in time'],
    ['floods', 'fails', 'too much on stdout'],
    ['complains', 'unknown', 'too much on stderr'],
    ['forks', 'unknown', ''],
    ['eats', 'unknown', ''],
    ['fills', 'unknown', 'no space left'],
    ['talks', 'fails', 'Listening on port 3000'],
  ])(
    'that %s ends within its bounds, is recorded as %s, and leaves nothing',
    async (manner, outcome, words) => {
      const staysOn = ['hangs', 'deaf', 'forks'].includes(manner)
      const finding = await run(manner, [], staysOn ? { ...LIMITS, runMs: 900 } : LIMITS)
      expect(finding.outcome).toBe(outcome)
      expect(finding.why).toContain(words)
      expect(left()).toEqual([])
    },
  )

  test('takes its hidden helpers with it', async () => {
    expect(await run('hides')).toMatchObject({ outcome: 'runs_as_declared' })
    expect(left()).toEqual([])
  })

  test('that names a setting as it ends is started again with a placeholder, which is said', async () => {
    expect(await run('wants')).toMatchObject({
      outcome: 'runs_as_declared',
      names: ['find_ship'],
      placeholders: ['SHIP_API_KEY'],
    })
  })

  test('with ten thousand tools, or tools with hostile names, is cut and said to be', async () => {
    const many = await run('many')
    expect([many.outcome, many.isCut]).toEqual(['runs_as_declared', true])
    expect(many.names).toHaveLength(500)
    const odd = await run('odd')
    expect([odd.outcome, odd.isCut]).toEqual(['runs_as_declared', true])
    expect(odd.names).toEqual(['good_one', '<img src=x onerror=alert(1)>', '__proto__', 'deep'])
  })
})
