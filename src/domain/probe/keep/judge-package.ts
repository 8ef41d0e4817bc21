import { type Finding, type ProbeOutcome, toFinding } from '../read/finding.ts'
import type { RpcReply } from '../read/json-rpc.ts'
import type { PackagePlan } from './probe-plan.ts'

/** How a program that was asked over stdio ended before it answered. */
export interface StdioEnd {
  /** `size`: too much on stdout; `log_size`: on stderr; `engine`: the container was never started. */
  why: 'exit' | 'time' | 'size' | 'log_size' | 'engine'
  code: number | null
  /** The first line on stdout that is no JSON-RPC message. */
  noise: string
  /** The end of stderr. */
  log: string
}

/**
 * Exit codes of the engine itself, of a container that it could not start (its network, its runtime,
 * its limits), and of a program it killed (out of memory, for one).
 */
const CODES_OF_ENGINE: ReadonlySet<number | null> = new Set([125, 126, 137])

/** What a program says that ran into a bound of ours or into our network; npm names the signal. */
const OUR_LIMITS =
  /signal SIGKILL|EROFS|read-only file system|ENOSPC|no space left|ENOMEM|out of memory|EAI_AGAIN|ENOTFOUND|ENETUNREACH|ECONNREFUSED|ETIMEDOUT|network is unreachable|name resolution|dns error|failed to lookup/i

/** @returns a finding about a package, with no status and no time: its download would count. */
export function toPackageFinding(outcome: ProbeOutcome, saw: string): Finding {
  return { ...toFinding({ protocol: 'mcp', outcome, saw }), isLocal: true }
}

/** @param method the request that was not answered */
export function judgeStdioEnd(end: StdioEnd, method: string, plan: PackagePlan): Finding {
  const { why, code, noise } = end
  const after = method === 'initialize' ? '' : `, ${method} unanswered`
  if (why === 'engine') return toPackageFinding('unknown', 'the engine could not be started')
  if (why === 'log_size')
    return toPackageFinding('unknown', `more on stderr than is read, no answer to ${method}`)
  if (why === 'size')
    return toPackageFinding('wrong_protocol', `too much on stdout, no answer to ${method}`)
  if (noise !== '')
    return toPackageFinding('wrong_protocol', `stdout holds no JSON-RPC: ${noise}${after}`)
  if (why === 'time') return judgeSilence(method, plan)
  const ended = `ended with ${code ?? 'a signal'} before it answered ${method}: ${reasonOf(end)}`
  const isOurs = code === null || CODES_OF_ENGINE.has(code)
  if (isOurs || OUR_LIMITS.test(end.log)) return toPackageFinding('unknown', ended)
  return judgeRefusal(plan, 'dead', ended)
}

/** An error, or a result that is none of this request. */
export function judgeStdioReply(reply: RpcReply, method: string, plan: PackagePlan): Finding {
  const saw =
    reply.kind === 'error'
      ? `JSON-RPC error ${reply.code} to ${method}: ${reply.message}`
      : `the result of ${method} is none of its kind`
  return reply.kind === 'error'
    ? judgeRefusal(plan, 'wrong_protocol', saw)
    : toPackageFinding('wrong_protocol', saw)
}

/** While a package manager may still be downloading, silence is nobody's fault. */
function judgeSilence(method: string, { registry }: PackagePlan): Finding {
  if (registry !== 'oci' && method === 'initialize')
    return toPackageFinding('unknown', 'no answer in time; downloading counts in it')
  return toPackageFinding('dead', `started, but did not answer ${method} in time`)
}

/** Who wants real settings and got placeholders may refuse: that is our poverty, not a fault. */
function judgeRefusal(plan: PackagePlan, outcome: ProbeOutcome, saw: string): Finding {
  const names = [...Object.keys(plan.env), ...plan.args.filter((text) => /<\w+>/.test(text))]
  return names.length === 0
    ? toPackageFinding(outcome, saw)
    : toPackageFinding('unknown', `with placeholders for ${names.slice(0, 3).join(', ')} it ${saw}`)
}

/** The line that says most: a bound that was met, a named error, any error, else the last one. */
function reasonOf({ log }: StdioEnd): string {
  const lines = log.split('\n').filter((line) => line.trim() !== '')
  const find = (words: RegExp) => lines.find((line) => words.test(line))
  return (
    find(OUR_LIMITS) ?? find(/\w*error:/i) ?? find(/error/i) ?? lines.at(-1) ?? 'nothing on stderr'
  )
}
