import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { PackagePlan } from '../../packages/run-check/fetch-package.ts'
import { checkStdio, judgeEnd, openStdio } from '../../packages/run-check/run-package.ts'

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
async function check(manner: string, plan: Partial<PackagePlan> = {}, limits = LIMITS) {
  const child = spawn(process.execPath, ['test/run-check/stdio-server.ts', manner])
  const session = openStdio(child, limits)
  try {
    return await checkStdio(session, { ...NPM, ...plan })
  } finally {
    session.close()
    const ended = child.exitCode ?? once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
}

describe('a program over stdio', () => {
  test('speaks, and its tools are read', async () => {
    const finding = await check('former')
    expect(finding).toEqual({
      outcome: 'runs_as_declared',
      server: { name: 'harbour', version: '2.1.0', protocol: '2025-11-25' },
      // Not a sentence of the seller's, and no time: it would be this machine's.
      tools: [{ name: 'find_ship', description: 'find_ship', input_schema: expect.anything() }],
      isCut: false,
    })
  })

  test('that speaks the current revision alone is asked in it', async () => {
    expect(await check('current')).toMatchObject({
      outcome: 'runs_as_declared',
      server: { protocol: '2026-07-28' },
      tools: [{ name: 'find_ship' }],
    })
  })

  const API_KEY = { API_KEY: 'placeholder' }
  test.each<[string, string, Partial<PackagePlan>, string, string]>([
    ['endless output', 'endless', {}, 'fails', 'too much on stdout'],
    ['endless complaints', 'complaining', {}, 'unknown', 'stderr'],
    ['another protocol', 'website', {}, 'fails', 'Listening on port 3000'],
    ['silence', 'silent', {}, 'unknown', 'in time'],
    ['an end', 'crashes', {}, 'fails', 'ended with 1'],
    ['an end with placeholders', 'crashes', { env: API_KEY }, 'unknown', 'API_KEY'],
    ['an end for want of a key', 'ends', {}, 'unknown', 'API_KEY is not set'],
    ['an end at our read-only disk', 'writer', {}, 'unknown', 'read-only'],
    ['an end at our memory', 'greedy', {}, 'unknown', 'ended with 137'],
  ])('%s is an outcome', async (what, manner, plan, outcome, words) => {
    const finding = await check(manner, plan, what === 'silence' ? SHORT : LIMITS)
    expect(finding).toMatchObject({ outcome })
    expect(finding.why).toContain(words)
  })

  test.each([
    ['our disk is full', 1, '  handleErrorFromBinding(e)\n\nError: ENOSPC: no space', 'ENOSPC: no'],
    ['the program cannot start', 126, 'prlimit: failed to execute: ENOENT', 'ENOENT'],
  ])('is not held against its seller where %s', (_, code, log, words) => {
    const end = { why: 'exit', code, log, noise: '' } as const
    const finding = judgeEnd(end, 'initialize', NPM)
    expect(finding).toMatchObject({ outcome: 'unknown', why: expect.stringContaining(words) })
  })

  test.each([
    ['exit', 'usage: server --key <key>', 'unknown', 'ended with 1'],
    ['exit', 'Listening on port 3000', 'fails', 'expected JSON-RPC on stdout'],
    ['time', 'usage: server --key <key>', 'fails', 'expected JSON-RPC on stdout'],
  ] as const)('after %s what it printed, %s, is %s', (why, noise, outcome, words) => {
    const finding = judgeEnd({ why, code: 1, log: '', noise }, 'initialize', NPM)
    expect(finding).toMatchObject({ outcome, why: expect.stringContaining(words) })
  })

  test('is told by its last line where none names an error', () => {
    const end = { why: 'exit', code: 1, log: 'starting\nbye\n\n', noise: '' } as const
    expect(judgeEnd(end, 'initialize', NPM).why).toMatch(/bye$/)
  })
})
