import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Tool } from '../../src/domain/listing/listing-facts.ts'
import { toInertLine } from '../../src/domain/probe/finding.ts'
import {
  type AskMcp,
  DISCOVER,
  INITIALIZE,
  type ListedTools,
  listTools,
  type McpServerInfo,
  type McpSession,
  parseRpcReply,
  type RpcReply,
  readDiscovered,
  readInitialized,
  readTools,
  toInitialized,
  toToolFacts,
} from '../../src/domain/probe/mcp.ts'
import { NOT_FETCHED, type PackageRun } from '../../src/domain/trust/evidence.ts'
import { isJsonObject, parseJson } from '../../src/domain/wire/json.ts'
import { fetchPackage, type PackagePlan, toPlaceholder } from './fetch-package.ts'
import { INFO_FD, type Sandbox, startSandbox, watchSandbox } from './sandbox.ts'

/** Limits for one package, in milliseconds and bytes. */
export const PACKAGE_LIMITS = {
  /** Time to fetch a package with its dependencies. */
  fetchMs: 300_000,
  fetchBytes: 1024 ** 3,
  /** Time for a program's whole handshake. */
  runMs: 45_000,
  bytes: 4 * 1024 * 1024,
}
type PackageLimits = typeof PACKAGE_LIMITS

const LAST_WORDS_MS = 2000

/** How often a program is started, each time with the settings that the last run named on exit. */
const MAX_STARTS = 4

/** Files for programs that look up their user or `localhost`. */
const ETC = {
  passwd: 'nobody:x:65534:65534:nobody:/tmp:/bin/sh\n',
  group: 'nogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost\n::1 localhost\n',
}

/**
 * Fetches a package, then runs it without a network in its own sandbox.
 * @returns the result, and the names of settings that were given placeholders
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
      const result = toResult('unknown', `${NOT_FETCHED}: ${fetched}`)
      return { result, placeholders: [] }
    }
    return await runWithSettings(plan, (requested) =>
      runProgram(sandbox, requested, fetched, limits),
    )
  } finally {
    await rm(root, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Makes the folder readable for the user `nobody`, who runs the program. */
async function prepare(root: string): Promise<void> {
  await chmod(root, 0o755)
  await Promise.all(['package', 'etc'].map((name) => mkdir(join(root, name))))
  for (const [name, text] of Object.entries(ETC)) await writeFile(join(root, 'etc', name), text)
}

/** A program that exits because of a missing setting names it, and is restarted with a placeholder. */
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

/** Watches a sandbox, and ends it by killing its first process: the kernel then kills the others. */
function keepSandbox(child: ChildProcess, session: StdioSession) {
  let init: number | null = null
  let stopWatch = () => {}
  const kill = () => {
    try {
      if (init === null) child.kill('SIGKILL')
      else process.kill(init, 'SIGKILL')
    } catch {
      // The sandbox has already ended.
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

/** @returns true if the program ended by itself, now or before */
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

/** What a run showed, without anything that identifies the machine. */
export interface RunResult {
  outcome: PackageRun['outcome']
  /** One printable line, if the outcome is not as declared. */
  why?: string
  server?: { name: string; version: string; protocol: string }
  /** Names, parameters and types, without the seller's texts. */
  tools?: Tool[]
  isCut?: boolean
}

const MAX_WHY = 200

/**
 * The handshake over stdio. `initialize` comes first: servers of former revisions may exit on any other
 * first request, while a server of only the current revision answers with an error and is then sent
 * `server/discover`. Then `tools/list`. Never rejects.
 */
export async function checkStdio(
  { ask, end }: StdioSession,
  plan: PackagePlan,
): Promise<RunResult> {
  const opened = await ask(INITIALIZE)
  if (opened === null) return judgeEnd(end(), 'initialize', plan)
  const former = readInitialized(opened)
  const session: McpSession | null = former && { version: former.protocol, id: null }
  if (session !== null) await ask(toInitialized(session))
  const info = former ?? (opened.kind === 'error' ? readDiscovered(await ask(DISCOVER)) : null)
  if (info === null) return judgeReply(opened, 'initialize', plan)
  const listed = await listTools(ask, info, session)
  if (listed.fault === null) return judgeEnd(end(), 'tools/list', plan)
  if (listed.fault !== undefined) return judgeReply(listed.fault, 'tools/list', plan)
  return toRan(info, listed)
}

function toRan({ name, version, protocol }: McpServerInfo, listed: ListedTools): RunResult {
  const { items, isCut } = readTools(listed.values)
  return {
    outcome: 'runs_as_declared',
    server: { name: toInertLine(name, 120), version: toInertLine(version, 60), protocol },
    tools: items.map(toToolFacts),
    isCut: isCut || listed.cut !== undefined,
  }
}

/** @param why a line; sandbox paths in it become relative to the package or its home */
export function toResult(outcome: 'fails' | 'unknown', why: string): RunResult {
  const named = why.replace(/(?<![\w.~-])\/(package|tmp)\//g, (_, root) =>
    root === 'tmp' ? '~/' : '',
  )
  return { outcome, why: toInertLine(named, MAX_WHY) }
}

/** How a program ended before it answered. */
interface StdioEnd {
  /**
   * `size`: too much on stdout; `log_size`: too much on stderr; `excess`: a limit (memory, processes,
   * files) was exceeded, named in `log`; `start`: no sandbox was started.
   */
  why: 'exit' | 'time' | 'size' | 'log_size' | 'excess' | 'start'
  code: number | null
  /** The first line on stdout that is not a JSON-RPC message. */
  noise: string
  log: string
}

/** Exit codes when a program could not be started, and when it was killed. */
const CODES_OF_SANDBOX: ReadonlySet<number | null> = new Set([126, 137])

/** Output from a program that hit one of our limits, has no network, or needs its install scripts. */
const OUR_LIMITS =
  /heap limit|virtual memory|native addon|bindings file|\.node\b|EMFILE|EFBIG|EROFS|read-only file system|ENOSPC|no space left|ENOMEM|out of memory|ENOSYS|function not implemented|bad system call|EAI_AGAIN|ENOTFOUND|ENETUNREACH|ECONNREFUSED|ETIMEDOUT|network is unreachable|name resolution|dns error|failed to lookup|fetch failed|EHOSTUNREACH|ENOENT|connection (?:error|refused|failed)/i

/** Output from a program that needs an account, a key or a database that its user must provide. */
const WANTS =
  /api[ _-]?key|token|credential|secret|password|unauthori[sz]ed|environment variable|usage:|\b(?:missing|required|must (?:be|provide|specify)|not (?:set|provided|found|configured)|please (?:set|provide))\b/i

/** @param method the unanswered request */
export function judgeEnd(end: StdioEnd, method: string, plan: PackagePlan): RunResult {
  const { why, code, noise } = end
  const after = method === 'initialize' ? '' : `, ${method} unanswered`
  if (why === 'start') return toResult('unknown', 'the sandbox could not be started')
  if (why === 'log_size') return toResult('unknown', `too much on stderr, no answer to ${method}`)
  if (why === 'excess') return toResult('unknown', `ended by us: ${end.log}${after}`)
  if (why === 'size') return toResult('fails', `too much on stdout, no answer to ${method}`)
  const words = `${noise}\n${end.log}`
  const isOurs =
    why === 'exit' && (code === null || CODES_OF_SANDBOX.has(code) || OUR_LIMITS.test(words))
  if (noise !== '' && !isOurs && !(why === 'exit' && WANTS.test(words)))
    return toResult('fails', `expected JSON-RPC on stdout, got ${noise}${after}`)
  // The program may be waiting for the network, which the sandbox does not have.
  if (why === 'time') return toResult('unknown', `no answer to ${method} in time: ${reasonOf(end)}`)
  const ended = `ended with ${code ?? 'a signal'} before it answered ${method}: ${reasonOf(end)}`
  if (isOurs || WANTS.test(words) || words.trim() === '') return toResult('unknown', ended)
  return judgeRefusal(plan, ended)
}

/** Judges an error, or a result that does not fit the request. */
function judgeReply(reply: RpcReply, method: string, plan: PackagePlan): RunResult {
  if (reply.kind === 'result')
    return toResult('fails', `the result of ${method} has the wrong shape`)
  return judgeRefusal(
    plan,
    `answered ${method} with JSON-RPC error ${reply.code}: ${reply.message}`,
  )
}

/** A program that needs real settings may refuse placeholders: this is our limit, not the program's fault. */
function judgeRefusal(plan: PackagePlan, why: string): RunResult {
  const names = placeholdersOf(plan)
  if (names.length === 0) return toResult('fails', why)
  const first = names.slice(0, 3).join(', ')
  const shown = names.length > 3 ? `${first} and more` : first
  return toResult('unknown', `with placeholders for ${shown} it ${why}`)
}

/** The most informative line: an exceeded limit, a missing setting, any error, or the last line. */
function reasonOf({ noise, log }: StdioEnd): string {
  const lines = `${noise}\n${log}`.split('\n').filter((line) => line.trim() !== '')
  const [telling] = [OUR_LIMITS, WANTS, /\w*error:/i, /error/i].flatMap(
    (words) => lines.find((line) => words.test(line)) ?? [],
  )
  return telling ?? lines.at(-1) ?? 'it printed nothing'
}

/** Names that are not settings: error codes, and variables of the runtime itself. */
const NO_SETTING = /^(?:ERR|EAI|UV|NODE|NPM|MODULE|DEP|HTTP|HTTPS)_/

const MAX_SETTINGS = 12

/**
 * Missing settings that a program named on exit, with placeholder values.
 * @example namesOfSettings({ …, log: 'Error: SHIP_API_KEY is not set' }, plan) → { SHIP_API_KEY: 'placeholder' }
 */
function namesOfSettings(
  { why, noise, log }: StdioEnd,
  { env }: PackagePlan,
): Record<string, string> {
  if (why !== 'exit') return {}
  const names = `${noise}\n${log}`.match(/\b[A-Z][A-Z0-9]{0,30}(?:_[A-Z0-9]{1,30}){1,5}\b/g) ?? []
  const missing = names.filter((name) => !(name in env) && !NO_SETTING.test(name))
  return Object.fromEntries(
    [...new Set(missing)].slice(0, MAX_SETTINGS).map((name) => [name, toPlaceholder(name)]),
  )
}

type StdioSession = ReturnType<typeof openStdio>

const TAIL = 4096

/**
 * MCP over a program's stdin and stdout: one JSON-RPC message per line. The caller ends the program.
 * @param bounds milliseconds from the start until everything must be answered; bytes each for stdout and stderr
 */
export function openStdio(child: ChildProcess, { ms, bytes }: { ms: number; bytes: number }) {
  const { stdin, stdout, stderr } = child
  if (stdin === null || stdout === null || stderr === null) throw new TypeError('pipes are needed')
  const seen: Omit<StdioEnd, 'why'> = { code: null, noise: '', log: '' }
  let why: StdioEnd['why'] | null = null
  let waiting: { id: number; answer: (reply: RpcReply | null) => void } | null = null
  const finish = (reason: StdioEnd['why']) => {
    why ??= reason
    clearTimeout(timer)
    waiting?.answer(null)
    stdout.destroy()
    stderr.destroy()
  }
  const timer = setTimeout(() => finish('time'), ms)
  const readLines = createLineReader((line) => {
    if (!isMessage(line)) seen.noise ||= line.trim().slice(0, TAIL)
    const reply = waiting === null ? null : parseRpcReply(line, waiting.id)
    if (reply !== null) waiting?.answer(reply)
  })
  listen(stdout, bytes, readLines, () => finish('size'))
  const keepTail = (piece: string) => {
    seen.log = `${seen.log}${piece}`.slice(-TAIL)
  }
  listen(stderr, bytes, keepTail, () => finish('log_size'))
  // A write fails if the program has ended, which `close` reports.
  stdin.on('error', () => {})
  child.on('error', () => finish('start'))
  child.on('close', (code) => {
    if (why === null) seen.code = code
    finish('exit')
  })
  /** Null also if the session ended before the answer. */
  const ask: AskMcp = async ({ id, body }) => {
    if (why !== null) return null
    stdin.write(`${body}\n`)
    if (id === null) return null
    const { promise, resolve } = Promise.withResolvers<RpcReply | null>()
    waiting = { id, answer: resolve }
    return promise
  }
  return {
    ask,
    /** How the session ended; `time` while it is open, because nobody reads this before the time is up. */
    end: (): StdioEnd => ({ why: why ?? 'time', ...seen }),
    /** @param excess the limit that the program exceeded */
    close(excess?: string) {
      if (excess !== undefined) seen.log = `it used ${excess}`
      finish(excess === undefined ? 'time' : 'excess')
    },
  }
}

function listen(
  stream: NodeJS.ReadableStream,
  most: number,
  onPiece: (piece: string) => void,
  onTooMuch: () => void,
): void {
  const decoder = new TextDecoder()
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > most) onTooMuch()
    else onPiece(decoder.decode(chunk, { stream: true }))
  })
  stream.on('error', () => {})
}

/** Scans each character once, however the program splits its output. */
function createLineReader(onLine: (line: string) => void): (piece: string) => void {
  let rest: string[] = []
  return (piece) => {
    const [first = '', ...others] = piece.split('\n')
    rest.push(first)
    const last = others.pop()
    if (last === undefined) return
    for (const line of [rest.join(''), ...others]) onLine(line)
    rest = [last]
  }
}

/** True for a JSON-RPC message or an empty line: no other line belongs on stdout. */
function isMessage(line: string): boolean {
  const value = parseJson(line)
  return line.trim() === '' || (isJsonObject(value) && value.jsonrpc === '2.0')
}

/** Names of settings and arguments that were given placeholders. */
function placeholdersOf({ env, args }: PackagePlan): string[] {
  return [...Object.keys(env), ...args.filter((text) => /<[\w-]+>/.test(text))]
}

/** A package on this machine's disk; none of its code has run yet. */
interface FetchedPackage {
  /** The program sees this folder as /package. */
  folder: string
  command: string[]
  env: Record<string, string>
}
