import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { toPackageFinding } from '../../../src/domain/probe/keep/judge-package.ts'
import type { PackagePlan } from '../../../src/domain/probe/keep/probe-plan.ts'
import type { Finding } from '../../../src/domain/probe/read/finding.ts'
import { OperatorError } from '../../../src/domain/wire/operator-error.ts'
import type { PackageProber } from '../shake-hands.ts'
import { findPackageFault, imageOf, toRunArgs } from './container-args.ts'
import { askEngine, type Engine, lastLineOf } from './engine.ts'
import { probeStdio } from './probe-stdio.ts'
import { openStdio } from './stdio-session.ts'

/** What one package may take. Milliseconds and bytes. */
export interface PackageLimits {
  pullMs: number
  /** An image's whole handshake. */
  imageMs: number
  /** A package's, its download included. */
  packageMs: number
  bytes: number
}

export const PACKAGE_LIMITS: PackageLimits = {
  pullMs: 300_000,
  imageMs: 45_000,
  packageMs: 180_000,
  bytes: 4 * 1024 * 1024,
}

/** Removing a container, asking about an image. */
const HOUSEKEEPING_MS = 30_000
const MOST_REMOVALS = 3
const LAST_WORDS_MS = 2000

/**
 * Runs packages in containers of their own. A finding is always given; what rejects is a container
 * that could not be removed, since nothing more should be started then.
 */
export function createPackageProber(engine: Engine, limits = PACKAGE_LIMITS): PackageProber {
  const pulled = new Map<string, Promise<Finding | null>>()
  const pullOnce = (image: string) => {
    const known = pulled.get(image) ?? pull(engine, image, limits.pullMs)
    pulled.set(image, known)
    return known
  }
  return async (plan) => {
    const fault = findPackageFault(plan)
    if (fault !== null) return toPackageFinding('unprobeable', fault)
    const image = imageOf(plan)
    if (plan.registry !== 'oci') return (await pullOnce(image)) ?? runPackage(engine, plan, limits)
    const wasHere =
      (await askEngine(engine, ['image', 'inspect', image], HOUSEKEEPING_MS)).code === 0
    try {
      return (await pull(engine, image, limits.pullMs)) ?? (await runPackage(engine, plan, limits))
    } finally {
      // A run over all listings would fill the disk; what was here before stays.
      if (!wasHere) await askEngine(engine, ['image', 'rm', image], HOUSEKEEPING_MS)
    }
  }
}

/** @returns null once the image is here */
async function pull(engine: Engine, image: string, ms: number): Promise<Finding | null> {
  const { code, output } = await askEngine(engine, ['pull', '--quiet', image], ms)
  if (code === 0) return null
  const why = code === null ? 'it took too long' : lastLineOf(output)
  return toPackageFinding('unknown', `the image ${image} could not be pulled: ${why}`)
}

async function runPackage(
  engine: Engine,
  plan: PackagePlan,
  limits: PackageLimits,
): Promise<Finding> {
  const name = `waypost-probe-${randomBytes(8).toString('hex')}`
  // podman leaves a file where it was started when it ends a program for its memory.
  const cwd = await mkdtemp(join(tmpdir(), `${name}-`))
  const child = spawn(engine.path, toRunArgs(engine, name, plan), {
    cwd,
    env: engine.env,
    // A group of its own: Ctrl-C is for us, and must not look like a package that ends.
    detached: true,
    stdio: 'pipe',
  })
  const ms = plan.registry === 'oci' ? limits.imageMs : limits.packageMs
  const session = openStdio(child, { ms, bytes: limits.bytes })
  try {
    return await probeStdio(session, plan)
  } finally {
    session.close()
    await remove(engine, name, child)
    await rm(cwd, { recursive: true, force: true })
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
async function end(client: ChildProcess, graceMs: number): Promise<boolean> {
  if (client.pid === undefined || client.exitCode !== null || client.signalCode !== null)
    return true
  const ended = once(client, 'exit').then(() => true)
  if (await Promise.race([ended, wait(graceMs, false, { ref: true })])) return true
  client.kill('SIGKILL')
  await ended
  return false
}
