import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { createPackageProber, PACKAGE_LIMITS } from '../../functions/probe/package/probe-package.ts'
import { openStdio, probeStdio } from '../../functions/probe/package/probe-stdio.ts'
import { findSandbox } from '../../functions/probe/package/sandbox.ts'
import { judgeStdioEnd } from '../../src/domain/probe/keep/judge-package.ts'
import type { PackagePlan } from '../../src/domain/probe/keep/probe-plan.ts'

const NPM: PackagePlan = {
  registry: 'npm',
  identifier: '@harbour/former',
  version: '2.1.0',
  env: {},
  args: [],
}
/** Long enough for a server to start, short enough to wait for its silence. */
const LIMITS = { ms: 30_000, bytes: 256 * 1024 }
const SHORT = { ...LIMITS, ms: 900 }

/** The handshake with a program of this test; what a sandbox adds has tests of its own. */
async function probe(manner: string, plan: Partial<PackagePlan> = {}, limits = LIMITS) {
  const child = spawn(process.execPath, ['test/probe/stdio-server.ts', manner])
  const session = openStdio(child, limits)
  try {
    return await probeStdio(session, { ...NPM, ...plan })
  } finally {
    session.close()
    const ended = child.exitCode ?? once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
}

describe('a program over stdio', () => {
  test('speaks, and its tools are read', async () => {
    const finding = await probe('former')
    expect(finding).toMatchObject({
      outcome: 'spoke',
      protocol: 'mcp',
      version: '2025-11-25',
      sight: {
        server: { name: 'harbour', version: '2.1.0' },
        tools: [{ name: 'find_ship', description: 'By name.' }],
      },
    })
    expect(finding).not.toHaveProperty('ms')
  })

  test('that speaks the current revision alone is asked in it', async () => {
    expect(await probe('current')).toMatchObject({
      outcome: 'spoke',
      version: '2026-07-28',
      sight: { tools: [{ name: 'find_ship' }] },
    })
  })

  const API_KEY = { API_KEY: 'placeholder' }
  test.each<[string, string, Partial<PackagePlan>, string, string]>([
    ['endless output', 'endless', {}, 'wrong_protocol', 'too much on stdout'],
    ['endless complaints', 'complaining', {}, 'unknown', 'stderr'],
    ['another protocol', 'website', {}, 'wrong_protocol', 'Listening on port 3000'],
    ['silence', 'silent', {}, 'unknown', 'in time'],
    ['an end', 'crashes', {}, 'dead', 'ended with 1'],
    ['an end with placeholders', 'crashes', { env: API_KEY }, 'unknown', 'API_KEY'],
    ['an end for want of a key', 'ends', {}, 'unknown', 'API_KEY is not set'],
    ['an end at our read-only disk', 'writer', {}, 'unknown', 'read-only'],
    ['an end at our memory', 'greedy', {}, 'unknown', 'ended with 137'],
  ])('%s is an outcome', async (what, manner, plan, outcome, words) => {
    const finding = await probe(manner, plan, what === 'silence' ? SHORT : LIMITS)
    expect(finding).toMatchObject({ outcome, isLocal: true })
    expect(finding.saw).toContain(words)
  })

  test.each([
    ['our disk is full', 1, '  handleErrorFromBinding(e)\n\nError: ENOSPC: no space', 'ENOSPC: no'],
    ['the program cannot start', 126, 'prlimit: failed to execute: ENOENT', 'ENOENT'],
  ])('is not held against its seller where %s', (_, code, log, words) => {
    const end = { why: 'exit', code, log, noise: '' } as const
    const finding = judgeStdioEnd(end, 'initialize', NPM)
    expect(finding).toMatchObject({ outcome: 'unknown', saw: expect.stringContaining(words) })
  })
})

test.each([
  [{ identifier: '--privileged' }, 'npm registry'],
  [{ registry: 'pypi' as const, identifier: '-v' }, 'pypi registry'],
  [{ identifier: 'former', version: '--call=x' }, 'version'],
])('a package named %j is never handed to a manager', async (plan, words) => {
  const prober = createPackageProber('/nowhere/bwrap', PACKAGE_LIMITS, () => {
    throw new Error('it was fetched')
  })
  const finding = await prober({ ...NPM, ...plan })
  expect(finding).toMatchObject({ outcome: 'unprobeable' })
  expect(finding.saw).toContain(words)
})

describe('a sandbox', () => {
  test('is looked for on PATH, in absolute folders', async () => {
    for (const path of ['', 'relative::.', '/nowhere'])
      expect((await findSandbox(path)).fault).toContain('bwrap is not on PATH')
  })

  test('that is missing ends the command with 2 before anything is probed', async () => {
    const child = spawn(
      process.execPath,
      ['functions/commands/evidence/probe.ts', '--packages'],
      // A content folder that isn't there would end with 1.
      { env: { PATH: '/nowhere', CONTENT_DIR: '/nowhere' } },
    )
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    const [code] = await once(child, 'close')
    expect({ code, said: said.trim() }).toEqual({
      code: 2,
      said: '--packages runs packages in a sandbox. bwrap is not on PATH. Install bubblewrap, or leave --packages out.',
    })
  })
})
