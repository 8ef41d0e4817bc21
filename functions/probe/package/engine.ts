import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { PackagePlan } from '../../../src/domain/probe/keep/probe-plan.ts'
import { toInertLine } from '../../../src/domain/probe/read/inert-text.ts'
import { asNobody, toSandboxArgs } from './sandbox.ts'

/** What runs strangers' programs: docker, podman, which takes the same words, or bubblewrap. */
export interface Engine {
  name: (typeof ENGINES)[number]
  path: string
  /** What the engine itself needs to reach its daemon. No container sees it. */
  env: Record<string, string>
}

const ENGINES = ['docker', 'podman', 'bwrap'] as const

/** Registries whose packages an engine can run, the likeliest to answer first. */
export function registriesOf({ name }: Engine): PackagePlan['registry'][] {
  return name === 'bwrap' ? ['npm', 'pypi'] : ['npm', 'pypi', 'oci']
}

/** Where an engine finds its daemon and its files; secrets of this process are not among them. */
const ENGINE_ENV =
  /^(?:PATH|HOME|USER|LOGNAME|TMPDIR|SSH_AUTH_SOCK|XDG_\w+|DOCKER_\w+|CONTAINERS_\w+|CONTAINER_(?:HOST|CONNECTION|SSHKEY|TLS_\w+)|https?_proxy|no_proxy)$/i

const ANSWER_MS = 20_000

/** An engine says little; a registry behind it could say anything. */
const MAX_OUTPUT = 64 * 1024

/** The first engine on PATH that answers, or one sentence that says what is missing. */
export async function findEngine(
  env: NodeJS.ProcessEnv,
): Promise<{ engine: Engine; fault: null } | { engine: null; fault: string }> {
  let silent = ''
  for (const name of ENGINES) {
    const path = findOnPath(name, env.PATH ?? '')
    if (path === null) continue
    const engine: Engine = { name, path, env: pickEnv(env, ENGINE_ENV) }
    // A sandbox has no version that would say whether it may be built here: one is built.
    const question = name === 'bwrap' ? toSandboxArgs(null, ['/usr/bin/true']) : ['version']
    const answer = await askEngine(engine, question, ANSWER_MS)
    const isUsable = answer.code === 0 && (await keepsBounds(engine))
    if (isUsable) return { engine, fault: null }
    silent ||=
      answer.code === 0
        ? `${name} runs without root on cgroups v1, where it ignores bounds of memory and processes.`
        : `${name} is on PATH, but its engine does not answer (${lastLineOf(answer.output)}).`
  }
  const missing = silent || 'None of docker, podman and bwrap is on PATH.'
  const fault = `--packages runs packages in a sandbox. ${missing} Install or start one, or leave --packages out.`
  return { engine: null, fault }
}

/** Rootless podman on cgroups v1 starts everything, and says on stderr that no bound holds. */
async function keepsBounds(engine: Engine): Promise<boolean> {
  if (engine.name !== 'podman') return true
  const format = '{{.Host.Security.Rootless}} {{.Host.CgroupsVersion}}'
  const { output } = await askEngine(engine, ['info', '--format', format], ANSWER_MS)
  return !/^true v1$/m.test(output)
}

/**
 * One command of an engine or a package manager, in words that no shell reads. Never rejects.
 *
 * @returns its exit code, null where it was killed, or could not be started
 */
export function askEngine(
  engine: Pick<Engine, 'path' | 'env'> & { name: string; cwd?: string },
  args: string[],
  ms: number,
  signal?: AbortSignal,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    // A group of its own: Ctrl-C is for us, and we end what we began.
    const child = spawn(engine.path, args, {
      env: engine.env,
      ...(engine.cwd !== undefined && { cwd: engine.cwd }),
      ...(engine.name === 'bwrap' && asNobody()),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const stop = () => endGroup(child)
    const timer = setTimeout(stop, ms)
    signal?.addEventListener('abort', stop, { once: true })
    let output = ''
    const hear = (chunk: Buffer) => {
      if (output.length < MAX_OUTPUT) output += chunk.toString('utf8')
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    const end = (code: number | null, words = output) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      resolve({ code, output: words.slice(0, MAX_OUTPUT) })
    }
    child.on('error', (error) => end(null, error.message))
    child.on('close', (code) => end(code))
  })
}

/** With whatever it started itself: a package manager has helpers. */
function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** The last line that says something; engines put the reason there. */
export function lastLineOf(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? ''
  return toInertLine(line, 120) || 'no reason given'
}

/** Absolute folders only: an empty or relative entry would mean the current folder. */
export function findOnPath(name: string, path: string): string | null {
  const places = path.split(delimiter).filter((folder) => isAbsolute(folder))
  return places.map((folder) => join(folder, name)).find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Of an environment what a command needs, by its names. */
export function pickEnv(env: NodeJS.ProcessEnv, names: RegExp): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && names.test(name) ? [[name, value]] : [],
    ),
  )
}
