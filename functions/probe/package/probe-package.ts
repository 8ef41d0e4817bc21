import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { namesOfSettings, toPackageFinding } from '../../../src/domain/probe/keep/judge-package.ts'
import type { PackagePlan } from '../../../src/domain/probe/keep/probe-plan.ts'
import type { Finding } from '../../../src/domain/probe/read/finding.ts'
import { OperatorError } from '../../../src/domain/wire/operator-error.ts'
import type { PackageProber } from '../shake-hands.ts'
import { findPackageFault, imageOf, type Runnable, toRunArgs } from './container-args.ts'
import { askEngine, type Engine, lastLineOf } from './engine.ts'
import { fetchPackage } from './fetch-package.ts'
import { openStdio, probeStdio, type StdioSession } from './probe-stdio.ts'
import { asNobody, toSandboxArgs, watchSandbox } from './sandbox.ts'

/** What one package may take. Milliseconds and bytes. */
export const PACKAGE_LIMITS = {
  /** An image, or a package with all it needs. */
  fetchMs: 300_000,
  fetchBytes: 1024 ** 3,
  /** The whole handshake of a program. */
  runMs: 45_000,
  bytes: 4 * 1024 * 1024,
}
export type PackageLimits = typeof PACKAGE_LIMITS

/** Removing a container, asking about an image. */
const HOUSEKEEPING_MS = 30_000
const MOST_REMOVALS = 3
const LAST_WORDS_MS = 2000

/** How often a program is started again with the settings that it named as it ended. */
const MOST_STARTS = 4

/** A program that asks the system who it is must be told something. */
const ETC = {
  passwd: 'nobody:x:65534:65534:nobody:/tmp:/bin/sh\n',
  group: 'nogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost\n::1 localhost\n',
}

/**
 * Fetches packages, then runs each without a network in a container or sandbox of its own. Rejects
 * only where a container could not be removed: nothing more should be started then.
 */
export function createPackageProber(
  engine: Engine,
  limits = PACKAGE_LIMITS,
  fetch: typeof fetchPackage = fetchPackage,
): PackageProber {
  const pulled = new Map<string, Promise<Finding | null>>()
  const pullOnce = (image: string) => {
    const known = pulled.get(image) ?? pull(engine, image, limits.fetchMs)
    pulled.set(image, known)
    return known
  }
  return async (plan) => {
    const fault = findPackageFault(plan)
    if (fault !== null) return toPackageFinding('unprobeable', fault)
    return plan.registry === 'oci'
      ? probeImage(engine, plan, limits)
      : probeFetched(engine, plan, limits, { fetch, pull: pullOnce })
  }
}

async function probeImage(engine: Engine, plan: PackagePlan, limits: PackageLimits) {
  const image = imageOf(plan.identifier)
  const wasHere = (await askEngine(engine, ['image', 'inspect', image], HOUSEKEEPING_MS)).code === 0
  try {
    const run = (asked: PackagePlan) =>
      runProgram(engine, asked, { kind: 'image', image, env: asked.env, args: asked.args }, limits)
    return (await pull(engine, image, limits.fetchMs)) ?? (await runWithSettings(plan, run))
  } finally {
    // A run over all listings would fill the disk; what was here before stays.
    if (!wasHere) await askEngine(engine, ['image', 'rm', image], HOUSEKEEPING_MS)
  }
}

async function probeFetched(
  engine: Engine,
  plan: PackagePlan,
  limits: PackageLimits,
  get: { fetch: typeof fetchPackage; pull: (image: string) => Promise<Finding | null> },
): Promise<Finding> {
  const root = await mkdtemp(join(tmpdir(), 'waypost-probe-'))
  try {
    await prepare(root)
    const size = { ms: limits.fetchMs, bytes: limits.fetchBytes }
    const fetched = await get.fetch(plan, join(root, 'package'), size)
    if (typeof fetched === 'string')
      return toPackageFinding('unknown', `the package could not be fetched: ${fetched}`)
    const missing = engine.name === 'bwrap' ? null : await get.pull(fetched.image)
    const run = (asked: PackagePlan) => {
      const env = { ...fetched.env, ...asked.env }
      return runProgram(engine, asked, { kind: 'package', ...fetched, env }, limits)
    }
    return missing ?? (await runWithSettings(plan, run))
  } finally {
    await rm(root, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Nobody, who runs the program, must be able to read it. */
async function prepare(root: string): Promise<void> {
  await chmod(root, 0o755)
  await Promise.all(['package', 'etc'].map((name) => mkdir(join(root, name))))
  for (const [name, text] of Object.entries(ETC)) await writeFile(join(root, 'etc', name), text)
}

/** A program that ends for want of a setting says which: it gets a placeholder and another start. */
async function runWithSettings(
  plan: PackagePlan,
  run: (plan: PackagePlan) => Promise<{ finding: Finding; end: ReturnType<StdioSession['end']> }>,
): Promise<Finding> {
  let asked = plan
  for (let start = 1; ; start += 1) {
    const { finding, end } = await run(asked)
    const wanted = finding.outcome === 'spoke' ? {} : namesOfSettings(end, asked)
    if (start === MOST_STARTS || Object.keys(wanted).length === 0) return finding
    asked = { ...asked, env: { ...asked.env, ...wanted } }
  }
}

/** @returns null once the image is here */
async function pull(engine: Engine, image: string, ms: number): Promise<Finding | null> {
  const { code, output } = await askEngine(engine, ['pull', '--quiet', image], ms)
  if (code === 0) return null
  const why = code === null ? 'it took too long' : lastLineOf(output)
  return toPackageFinding('unknown', `the image ${image} could not be pulled: ${why}`)
}

async function runProgram(
  engine: Engine,
  plan: PackagePlan,
  what: Runnable,
  limits: PackageLimits,
) {
  const isSandbox = engine.name === 'bwrap'
  const name = `waypost-probe-${randomBytes(8).toString('hex')}`
  // podman leaves a file where it was started when it ends a program for its memory.
  const cwd = await mkdtemp(join(tmpdir(), `${name}-`))
  const words =
    isSandbox && what.kind === 'package'
      ? ['--info-fd', '3', ...toSandboxArgs(what, what.command)]
      : toRunArgs(engine, name, what)
  const child = spawn(engine.path, words, {
    cwd: isSandbox ? '/' : cwd,
    env: engine.env,
    ...(isSandbox && asNobody()),
    // A group of its own: Ctrl-C is for us, and must not look like a package that ends.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  })
  const session = openStdio(child, { ms: limits.runMs, bytes: limits.bytes })
  const sandbox = isSandbox ? keepSandbox(child, session) : null
  try {
    return { finding: await probeStdio(session, plan), end: session.end() }
  } finally {
    session.close()
    const ended = sandbox === null ? remove(engine, name, child) : sandbox.end()
    await ended.finally(() => rm(cwd, { recursive: true, force: true }))
  }
}

/** Watches a sandbox, and ends it by its first process: the kernel ends all others with it. */
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
  child.stdio[3]
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

/** By name, since a client that is killed leaves its container running; then the client itself. */
async function remove(engine: Engine, name: string, client: ChildProcess): Promise<void> {
  let last = ''
  for (let attempt = 0; attempt < MOST_REMOVALS; attempt += 1) {
    const { code, output } = await askEngine(engine, ['rm', '--force', name], HOUSEKEEPING_MS)
    last = output
    const isGone = code === 0 || /no such container|no container with/i.test(output)
    const hasEnded = await end(client, isGone && attempt === 0 ? LAST_WORDS_MS : 0)
    // A client that was still starting one may have done so after the removal: once more.
    if (isGone && hasEnded) return
  }
  throw new OperatorError(
    `The container ${name} could not be removed (${lastLineOf(last)}): remove it with ${engine.name} rm --force ${name}.`,
  )
}

/** @returns true where it ended by itself, or had already */
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
