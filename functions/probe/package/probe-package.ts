import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { findIdentifierFault } from '../../../src/domain/listing/invoke.ts'
import { namesOfSettings, toPackageFinding } from '../../../src/domain/probe/keep/judge-package.ts'
import type { PackagePlan } from '../../../src/domain/probe/keep/probe-plan.ts'
import type { Finding } from '../../../src/domain/probe/read/finding.ts'
import type { PackageProber } from '../probe-handshake.ts'
import { type FetchedPackage, fetchPackage } from './fetch-package.ts'
import { openStdio, probeStdio, type StdioSession } from './probe-stdio.ts'
import { INFO_FD, type Sandbox, startSandbox, watchSandbox } from './sandbox.ts'

/** Limits for one package. Milliseconds and bytes. */
export const PACKAGE_LIMITS = {
  /** A package with its dependencies. */
  fetchMs: 300_000,
  fetchBytes: 1024 ** 3,
  /** Time for the whole handshake of a program. */
  runMs: 45_000,
  bytes: 4 * 1024 * 1024,
}
export type PackageLimits = typeof PACKAGE_LIMITS

const LAST_WORDS_MS = 2000

/** How often a program is restarted with the settings that it asked for on exit. */
const MAX_STARTS = 4

const FIXED_VERSION = /^\w[\w.+-]{0,99}$/

/** A program that asks the system for its user must get an answer. */
const ETC = {
  passwd: 'nobody:x:65534:65534:nobody:/tmp:/bin/sh\n',
  group: 'nogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost\n::1 localhost\n',
}

/** Fetches packages, then runs each without a network in a sandbox of its own. */
export function createPackageProber(
  sandbox: Sandbox,
  limits = PACKAGE_LIMITS,
  fetchOne: typeof fetchPackage = fetchPackage,
): PackageProber {
  return async (plan) => {
    const fault = findPackageFault(plan)
    if (fault !== null) return toPackageFinding('unprobeable', fault)
    const root = await mkdtemp(join(tmpdir(), 'waypost-probe-'))
    try {
      await prepare(root)
      const size = { ms: limits.fetchMs, bytes: limits.fetchBytes }
      const fetched = await fetchOne(plan, join(root, 'package'), size)
      if (typeof fetched === 'string')
        return toPackageFinding('unknown', `the package could not be fetched: ${fetched}`)
      return await runWithSettings(plan, (asked) => runProgram(sandbox, asked, fetched, limits))
    } finally {
      await rm(root, { recursive: true, force: true, maxRetries: 3 })
    }
  }
}

/** @returns why this package is never passed to a manager, or null. Content was checked already. */
function findPackageFault({ registry, identifier, version }: PackagePlan): string | null {
  const fault = findIdentifierFault(registry, identifier)
  if (fault !== null) return fault
  return version === null || FIXED_VERSION.test(version) ? null : 'the version is not a fixed one'
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
  run: (plan: PackagePlan) => Promise<{ finding: Finding; end: ReturnType<StdioSession['end']> }>,
): Promise<Finding> {
  let asked = plan
  for (let start = 1; ; start += 1) {
    const { finding, end } = await run(asked)
    const wanted = finding.outcome === 'spoke' ? {} : namesOfSettings(end, asked)
    if (start === MAX_STARTS || Object.keys(wanted).length === 0) return finding
    asked = { ...asked, env: { ...asked.env, ...wanted } }
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
    return { finding: await probeStdio(session, plan), end: session.end() }
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
