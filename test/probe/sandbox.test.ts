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
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Engine, findEngine } from '../../functions/probe/package/engine.ts'
import { createPackageProber, PACKAGE_LIMITS } from '../../functions/probe/package/probe-package.ts'
import type { PackagePlan } from '../../src/domain/probe/keep/probe-plan.ts'
import { findFreePort } from '../support/free-port.ts'

/** The real bubblewrap, and none other that may be here. */
const found = await findEngine({ PATH: '/usr/bin:/bin' })
const engine: Engine | null = found.engine?.name === 'bwrap' ? found.engine : null
if (engine === null) console.warn(`skipped: no sandbox can be built here (${found.fault})`)

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
const folder = mkdtempSync(join(tmpdir(), 'waypost-sandbox-'))
chmodSync(folder, 0o755)
beforeAll(() => vi.stubEnv('TMPDIR', folder))
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Runs the fixture in the sandbox; what a package manager would do is done by a copy. */
async function run(manner: string, words: string[] = [], limits = LIMITS) {
  if (engine === null) throw new Error('no sandbox')
  const probe = createPackageProber(engine, limits, async (plan, folder) => {
    copyFileSync('test/fixtures/packages/hostile.mjs', join(folder, 'hostile.mjs'))
    const command = ['node', '/package/hostile.mjs', manner, ...words, mark]
    return { folder, command, env: plan.env, image: '' }
  })
  const finding = await probe(PLAN)
  return { ...finding, names: finding.sight?.tools?.map(({ name }) => name) ?? [] }
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

describe.skipIf(engine === null)('a package in a sandbox', () => {
  test('speaks, and its tools are read', async () => {
    expect(await run('polite')).toMatchObject({ outcome: 'spoke', names: ['find_ship'] })
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
    expect(seen).toMatchObject({ outcome: 'spoke', names: [] })
    expect(called).not.toHaveBeenCalled()
  })

  test.each([
    ['hangs', 'unknown', 'no answer to initialize in time'],
    ['deaf', 'unknown', 'no answer to initialize in time'],
    ['floods', 'wrong_protocol', 'too much on stdout'],
    ['complains', 'unknown', 'more on stderr'],
    ['forks', 'unknown', ''],
    ['eats', 'unknown', ''],
    ['fills', 'unknown', 'no space left'],
    ['talks', 'wrong_protocol', 'Listening on port 3000'],
  ])(
    'that %s ends within its bounds, is recorded as %s, and leaves nothing',
    async (manner, outcome, words) => {
      const staysOn = ['hangs', 'deaf', 'forks'].includes(manner)
      const finding = await run(manner, [], staysOn ? { ...LIMITS, runMs: 900 } : LIMITS)
      expect(finding.outcome).toBe(outcome)
      expect(finding.saw).toContain(words)
      expect(left()).toEqual([])
    },
  )

  test('takes its hidden helpers with it', async () => {
    expect(await run('hides')).toMatchObject({ outcome: 'spoke' })
    expect(left()).toEqual([])
  })

  test('that names a setting as it ends is started again with a placeholder, which is said', async () => {
    const finding = await run('wants')
    expect(finding).toMatchObject({ outcome: 'spoke', names: ['find_ship'] })
    expect(finding.saw).toContain('with placeholders for SHIP_API_KEY')
  })

  test('with ten thousand tools, or tools with hostile names, is cut and said to be', async () => {
    const many = await run('many')
    expect([many.outcome, many.sight?.truncated]).toEqual(['spoke', true])
    expect(many.names).toHaveLength(500)
    const odd = await run('odd')
    expect([odd.outcome, odd.sight?.truncated]).toEqual(['spoke', true])
    expect(odd.names).toEqual(['good_one', '<img src=x onerror=alert(1)>', '__proto__', 'deep'])
  })
})
