import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type FetchedPackage, fetchPackage } from './fetch-package.ts'
import { type PackagePlan, placeholdersOf } from './package-plan.ts'
import { INFO_FD, type Sandbox, startSandbox, watchSandbox } from './sandbox.ts'
import {
  checkStdio,
  namesOfSettings,
  openStdio,
  type RunResult,
  type StdioSession,
  toResult,
} from './stdio-check.ts'

/** Limits for one package. Milliseconds and bytes. */
export const PACKAGE_LIMITS = {
  /** A package with its dependencies. */
  fetchMs: 300_000,
  fetchBytes: 1024 ** 3,
  /** Time for the whole handshake of a program. */
  runMs: 45_000,
  bytes: 4 * 1024 * 1024,
}
type PackageLimits = typeof PACKAGE_LIMITS

const LAST_WORDS_MS = 2000

/** How often a program is restarted with the settings that it named on exit. */
const MAX_STARTS = 4

/** A program that asks the system for its user must get an answer. */
const ETC = {
  passwd: 'nobody:x:65534:65534:nobody:/tmp:/bin/sh\n',
  group: 'nogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost\n::1 localhost\n',
}

/**
 * Fetches a package, then runs it without a network in a sandbox of its own.
 *
 * @returns its result, and the names of the settings that were placeholders
 */
export async function runPackage(
  sandbox: Sandbox,
  plan: PackagePlan,
  limits: PackageLimits = PACKAGE_LIMITS,
  fetchOne: typeof fetchPackage = fetchPackage,
): Promise<{ result: RunResult; placeholders: string[] }> {
  const root = await mkdtemp(join(tmpdir(), 'run-check-'))
  try {
    await prepare(root)
    const size = { ms: limits.fetchMs, bytes: limits.fetchBytes }
    const fetched = await fetchOne(plan, join(root, 'package'), size)
    if (typeof fetched === 'string') {
      const result = toResult('unknown', `the package could not be fetched: ${fetched}`)
      return { result, placeholders: [] }
    }
    return await runWithSettings(plan, (requested) =>
      runProgram(sandbox, requested, fetched, limits),
    )
  } finally {
    await rm(root, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** The user `nobody`, who runs the program, must be able to read it. */
async function prepare(root: string): Promise<void> {
  await chmod(root, 0o755)
  await Promise.all(['package', 'etc'].map((name) => mkdir(join(root, name))))
  for (const [name, text] of Object.entries(ETC)) await writeFile(join(root, 'etc', name), text)
}

/** A program that exits over a missing setting names it: it gets a placeholder and is restarted. */
async function runWithSettings(
  plan: PackagePlan,
  run: (plan: PackagePlan) => Promise<{ result: RunResult; end: ReturnType<StdioSession['end']> }>,
) {
  let requested = plan
  for (let start = 1; ; start += 1) {
    const { result, end } = await run(requested)
    const wanted = result.outcome === 'runs_as_declared' ? {} : namesOfSettings(end, requested)
    if (start === MAX_STARTS || Object.keys(wanted).length === 0)
      return { result, placeholders: placeholdersOf(requested) }
    requested = { ...requested, env: { ...requested.env, ...wanted } }
  }
}

async function runProgram(
  sandbox: Sandbox,
  plan: PackagePlan,
  { folder, command, env }: FetchedPackage,
  limits: PackageLimits,
) {
  const child = startSandbox(sandbox, { folder, env: { ...env, ...plan.env } }, command)
  const session = openStdio(child, { ms: limits.runMs, bytes: limits.bytes })
  const kept = keepSandbox(child, session)
  try {
    return { result: await checkStdio(session, plan), end: session.end() }
  } finally {
    session.close()
    await kept.end()
  }
}

/** Watches a sandbox, and ends it by its first process: the kernel kills the others with it. */
function keepSandbox(child: ChildProcess, session: StdioSession) {
  let init: number | null = null
  let stopWatch = () => {}
  const kill = () => {
    try {
      if (init === null) child.kill('SIGKILL')
      else process.kill(init, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
  child.stdio[INFO_FD]
    ?.on('error', () => {})
    .on('data', (chunk: Buffer) => {
      init ??= Number(/"child-pid":\s*(\d+)/.exec(chunk.toString('latin1'))?.[1] ?? 0) || null
      if (init === null) return
      stopWatch()
      stopWatch = watchSandbox(init, (what) => {
        session.close(what)
        kill()
      })
    })
  return {
    async end() {
      const hasEnded = await end(child, LAST_WORDS_MS, kill)
      stopWatch()
      if (!hasEnded) await end(child, 0)
    },
  }
}

/** @returns true where it ended by itself, now or before */
async function end(client: ChildProcess, graceMs: number, kill: () => void = () => {}) {
  if (client.pid === undefined || client.exitCode !== null || client.signalCode !== null)
    return true
  const ended = once(client, 'exit').then(() => true)
  kill()
  if (await Promise.race([ended, wait(graceMs, false, { ref: true })])) return true
  client.kill('SIGKILL')
  await ended
  return false
}
