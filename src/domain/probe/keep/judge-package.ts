import { type Finding, type ProbeOutcome, toFinding } from '../read/finding.ts'
import type { RpcReply } from '../read/mcp-messages.ts'
import { toPlaceholder } from './plan-probe.ts'
import type { PackagePlan } from './probe-plan.ts'

/** How a program probed over stdio ended before it answered. */
export interface StdioEnd {
  /**
   * `size`: too much on stdout; `log_size`: on stderr; `excess`: of memory or processes, named in
   * `log`; `start`: no sandbox was ever started.
   */
  why: 'exit' | 'time' | 'size' | 'log_size' | 'excess' | 'start'
  code: number | null
  /** The first line on stdout that is not a JSON-RPC message. */
  noise: string
  log: string
}

/** Exit codes of a program that could not be started, and of one that was killed. */
const CODES_OF_SANDBOX: ReadonlySet<number | null> = new Set([126, 137])

/** Output of a program that hit a limit of ours, or lacks a network or a build by its scripts. */
const OUR_LIMITS =
  /heap limit|virtual memory|native addon|bindings file|\.node\b|EMFILE|EFBIG|EROFS|read-only file system|ENOSPC|no space left|ENOMEM|out of memory|EAI_AGAIN|ENOTFOUND|ENETUNREACH|ECONNREFUSED|ETIMEDOUT|network is unreachable|name resolution|dns error|failed to lookup|fetch failed|EHOSTUNREACH|ENOENT|connection (?:error|refused|failed)/i

/** Output of a program that needs an account, a key or a database of its user. */
const WANTS =
  /api[ _-]?key|token|credential|secret|password|unauthori[sz]ed|environment variable|usage:|\b(?:missing|required|must (?:be|provide|specify)|not (?:set|provided|found|configured)|please (?:set|provide))\b/i

/** Names that are not settings: error codes, and variables of the runtime itself. */
const NO_SETTING = /^(?:ERR|EAI|UV|NODE|NPM|MODULE|DEP|HTTP|HTTPS)_/

const MOST_SETTINGS = 12

/**
 * @param saw its sandbox paths are replaced by those of the package and of its home
 * @returns a finding about a package, with no status and no time: the machine's load would count
 */
export function toPackageFinding(outcome: ProbeOutcome, saw: string): Finding {
  const named = saw.replace(/(?<![\w.~-])\/(package|tmp)\//g, (_, root) =>
    root === 'tmp' ? '~/' : '',
  )
  return { ...toFinding({ protocol: 'mcp', outcome, saw: named }), isLocal: true }
}

/** @param method the unanswered request */
export function judgeStdioEnd(end: StdioEnd, method: string, plan: PackagePlan): Finding {
  const { why, code, noise } = end
  const after = method === 'initialize' ? '' : `, ${method} unanswered`
  if (why === 'start') return toPackageFinding('unknown', 'the sandbox could not be started')
  if (why === 'log_size')
    return toPackageFinding('unknown', `more on stderr than is read, no answer to ${method}`)
  if (why === 'excess') return toPackageFinding('unknown', `ended by us: ${end.log}${after}`)
  if (why === 'size')
    return toPackageFinding('wrong_protocol', `too much on stdout, no answer to ${method}`)
  const words = `${noise}\n${end.log}`
  const isOurs =
    why === 'exit' && (code === null || CODES_OF_SANDBOX.has(code) || OUR_LIMITS.test(words))
  if (noise !== '' && !isOurs && !(why === 'exit' && WANTS.test(words)))
    return toPackageFinding('wrong_protocol', `stdout holds no JSON-RPC: ${noise}${after}`)
  // It may be waiting for the network, which it does not have here.
  if (why === 'time')
    return toPackageFinding('unknown', `no answer to ${method} in time: ${reasonOf(end)}`)
  const ended = `ended with ${code ?? 'a signal'} before it answered ${method}: ${reasonOf(end)}`
  if (isOurs || WANTS.test(words) || words.trim() === '') return toPackageFinding('unknown', ended)
  return judgeRefusal(plan, 'dead', ended)
}

/**
 * Missing settings that a program named on exit, with placeholder values.
 *
 * @example namesOfSettings({ …, log: 'Error: SHIP_API_KEY is not set' }, plan) → { SHIP_API_KEY: 'placeholder' }
 */
export function namesOfSettings(
  { why, noise, log }: StdioEnd,
  { env }: PackagePlan,
): Record<string, string> {
  if (why !== 'exit') return {}
  const names = `${noise}\n${log}`.match(/\b[A-Z][A-Z0-9]{0,30}(?:_[A-Z0-9]{1,30}){1,5}\b/g) ?? []
  const missing = names.filter((name) => !(name in env) && !NO_SETTING.test(name))
  return Object.fromEntries(
    [...new Set(missing)].slice(0, MOST_SETTINGS).map((name) => [name, toPlaceholder(name)]),
  )
}

/** An error, or a result of another kind than this request's. */
export function judgeStdioReply(reply: RpcReply, method: string, plan: PackagePlan): Finding {
  if (reply.kind === 'result')
    return toPackageFinding('wrong_protocol', `the result of ${method} has the wrong shape`)
  const saw = `JSON-RPC error ${reply.code} to ${method}: ${reply.message}`
  return judgeRefusal(plan, 'wrong_protocol', saw)
}

/** A program that needs real settings may refuse placeholders: that is our limit, not its fault. */
function judgeRefusal(plan: PackagePlan, outcome: ProbeOutcome, saw: string): Finding {
  const names = toPlaceholderNames(plan)
  return names === ''
    ? toPackageFinding(outcome, saw)
    : toPackageFinding('unknown', `with placeholders for ${names} it ${saw}`)
}

/** What was filled in instead of real values; '' where nothing was. */
export function toPlaceholderNames({ env, args }: PackagePlan): string {
  const names = [...Object.keys(env), ...args.filter((text) => /<\w+>/.test(text))]
  return names.length > 3 ? `${names.slice(0, 3).join(', ')} and more` : names.join(', ')
}

/** The most informative line: a limit that was hit, a named error, any error, else the last one. */
function reasonOf({ noise, log }: StdioEnd): string {
  const lines = `${noise}\n${log}`.split('\n').filter((line) => line.trim() !== '')
  const [telling] = [OUR_LIMITS, WANTS, /\w*error:/i, /error/i].flatMap(
    (words) => lines.find((line) => words.test(line)) ?? [],
  )
  return telling ?? lines.at(-1) ?? 'it said nothing'
}
