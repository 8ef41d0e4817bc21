import type { ChildProcess } from 'node:child_process'
import {
  judgeStdioEnd,
  judgeStdioReply,
  type StdioEnd,
  toPlaceholderNames,
} from '../../../src/domain/probe/keep/judge-package.ts'
import type { PackagePlan } from '../../../src/domain/probe/keep/probe-plan.ts'
import { type Finding, toFinding } from '../../../src/domain/probe/read/finding.ts'
import { toMcpFinding } from '../../../src/domain/probe/read/judge-mcp.ts'
import {
  type AskMcp,
  DISCOVER,
  INITIALIZE,
  listTools,
  type McpSession,
  parseRpcReply,
  type RpcReply,
  readDiscovered,
  readInitialized,
  toInitialized,
} from '../../../src/domain/probe/read/mcp-messages.ts'
import { isJsonObject, parseJson } from '../../../src/domain/wire/parse-json.ts'

/**
 * The handshake over stdio. `initialize` comes first: servers of former revisions may end at any
 * other request, while one that only speaks the current revision answers with an error and is then
 * sent `server/discover`. Then `tools/list`. Never rejects.
 */
export async function probeStdio({ ask, end }: StdioSession, plan: PackagePlan): Promise<Finding> {
  const opened = await ask(INITIALIZE)
  if (opened === null) return judgeStdioEnd(end(), 'initialize', plan)
  const former = readInitialized(opened)
  const session: McpSession | null = former && { version: former.protocol, id: null }
  if (session !== null) await ask(toInitialized(session))
  const info = former ?? (opened.kind === 'error' ? readDiscovered(await ask(DISCOVER)) : null)
  if (info === null) return judgeStdioReply(opened, 'initialize', plan)
  const listed = await listTools(ask, info, session)
  if (listed.fault === null) return judgeStdioEnd(end(), 'tools/list', plan)
  if (listed.fault !== undefined) return judgeStdioReply(listed.fault, 'tools/list', plan)
  const finding = toMcpFinding(info, listed)
  const names = toPlaceholderNames(plan)
  const saw = names === '' ? finding.saw : `${finding.saw}, with placeholders for ${names}`
  return toFinding({ ...finding, saw, isLocal: true })
}

export type StdioSession = ReturnType<typeof openStdio>

const TAIL = 4096

/**
 * MCP over stdin and stdout of a program: a JSON-RPC message per line. The caller ends the program.
 *
 * @param bounds milliseconds from the start until everything must be answered; bytes of each output
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
  // A write fails where the program has ended, which `close` reports.
  stdin.on('error', () => {})
  child.on('error', () => finish('start'))
  child.on('close', (code) => {
    if (why === null) seen.code = code
    finish('exit')
  })
  /** Null also where the session ended before the answer. */
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
    /** How it ended; `time` while it has not, as nobody reads it earlier. */
    end: (): StdioEnd => ({ why: why ?? 'time', ...seen }),
    /** @param excess which limit it exceeded */
    close(excess?: string) {
      if (excess !== undefined) seen.log = `it took ${excess}`
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

/** A JSON-RPC message, or an empty line; anything else does not belong on stdout. */
function isMessage(line: string): boolean {
  const value = parseJson(line)
  return line.trim() === '' || (isJsonObject(value) && value.jsonrpc === '2.0')
}
