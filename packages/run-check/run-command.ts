import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { toInertLine } from '../../src/domain/probe/finding.ts'

export interface Command {
  path: string
  env: Record<string, string>
  cwd?: string
}

/** A command prints little; a registry behind it could send anything. */
const MAX_OUTPUT = 64 * 1024

/**
 * One command of a package manager or the system, as arguments without a shell. Never rejects.
 *
 * @returns its exit code, null where it was killed, or could not be started
 */
export function runCommand(
  { path, env, cwd }: Command,
  args: string[],
  ms: number,
  signal?: AbortSignal,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    // Its own process group: Ctrl-C is for us, and we end what we started.
    const child = spawn(path, args, {
      env,
      ...(cwd !== undefined && { cwd }),
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

/** Including its own children: a package manager has helpers. */
function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** The last non-empty line; commands put the reason there. */
export function lastLineOf(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? ''
  return toInertLine(line, 120) || 'no reason given'
}

/** Absolute folders only: an empty or relative entry would mean the current folder. */
export function findOnPath(name: string, path: string): string | null {
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder))
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
