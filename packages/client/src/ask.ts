import { parseRetryAfter } from '../../../src/domain/probe/read/probe-answer.ts'
import { isJsonObject, parseJson } from '../../../src/domain/wire/parse-json.ts'
import type { Problem } from './answers.ts'
import { WaypostError } from './waypost-error.ts'

/** The first wait before a retry, doubled each time (milliseconds). */
const FIRST_WAIT = 250
/** The longest wait between two tries (milliseconds); beyond it the caller must retry. */
const LONGEST_WAIT = 30_000
/** Statuses after which the same read may soon succeed. */
const PASSING = new Set([429, 502, 503, 504])

export interface AskOptions {
  fetch: typeof fetch
  /** Tries after the first one, for requests that may be repeated. */
  retries: number
  /** Milliseconds one try may take until its answer is read. */
  timeoutMs: number
  headers: Record<string, string>
}

export interface Asked {
  url: string
  init?: RequestInit
  signal?: AbortSignal | undefined
  /** Statuses, and failures without an answer, that are retried; for reads all transient ones. */
  mayRepeat: boolean
}

/**
 * Asks the service and reads its JSON; repeatable requests are retried after transient failures.
 *
 * @throws WaypostError with the service's problem document, or the reason for having no answer
 */
export async function askJson<Answer>(asked: Asked, options: AskOptions): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const failure = await tryOnce<Answer>(asked, options)
    if ('answer' in failure) return failure.answer
    const { error } = failure
    if (asked.signal?.aborted === true) throw asked.signal.reason
    const mayPass = error.status === 0 ? error.code !== 'unreadable' : PASSING.has(error.status)
    // A rate-limited request had no effect, whatever it was.
    if (!mayPass || !(asked.mayRepeat || error.status === 429)) throw error
    if (tries > options.retries) throw error
    const ms = toWait(tries, error.retryAfter, Math.random())
    if (ms === null) throw error
    await wait(ms, asked.signal)
  }
}

/** Waits this many milliseconds, less when the signal aborts. */
function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

async function tryOnce<Answer>(asked: Asked, options: AskOptions) {
  const patience = AbortSignal.timeout(options.timeoutMs)
  try {
    const response = await options.fetch(asked.url, {
      ...asked.init,
      headers: { accept: 'application/json', ...options.headers, ...asked.init?.headers },
      signal: asked.signal === undefined ? patience : AbortSignal.any([asked.signal, patience]),
    })
    const text = await response.text()
    return response.ok
      ? readAnswer<Answer>(asked.url, response.status, text)
      : { error: toProblemError(response, text) }
  } catch (cause) {
    return { error: toFailure(asked.url, patience.aborted, options.timeoutMs, cause) }
  }
}

function readAnswer<Answer>(url: string, status: number, text: string) {
  try {
    // What the service publishes is its contract; nothing of it is executed.
    return { answer: JSON.parse(text) as Answer }
  } catch (cause) {
    const message = `${url} answered ${status} without JSON; is this a Waypost?`
    return { error: new WaypostError('unreadable', message, { status, cause }) }
  }
}

/** The service's own message about a failure status. */
export function toProblemError(response: Response, text: string): WaypostError {
  const { status } = response
  const problem = readProblem(text)
  const retryAfter = parseRetryAfter(response.headers.get('retry-after'), Date.now())
  return new WaypostError(
    problem?.code ?? `http-${status}`,
    problem?.detail ?? `${response.url} answered ${status}`,
    {
      status,
      ...(problem !== undefined && { problem }),
      ...(retryAfter !== null && { retryAfter }),
    },
  )
}

function readProblem(text: string): Problem | undefined {
  const value = parseJson(text)
  return isProblem(value) ? value : undefined
}

/** Both members that are read here are checked; the rest is the service's contract. */
function isProblem(value: unknown): value is Problem {
  return isJsonObject(value) && typeof value.code === 'string' && typeof value.detail === 'string'
}

export function toFailure(
  url: string,
  isLate: boolean,
  timeoutMs: number,
  cause: unknown,
): WaypostError {
  if (isLate)
    return new WaypostError('timeout', `${url} did not answer within ${timeoutMs} ms`, { cause })
  const inner = cause instanceof Error ? (cause.cause ?? cause) : cause
  const why = inner instanceof Error ? inner.message || inner.name : String(inner)
  return new WaypostError('unreachable', `${url} could not be reached: ${why}`, { cause })
}

/**
 * Milliseconds before the next try: what the service asked for, else exponential with full jitter,
 * so that clients that failed together don't come back together.
 *
 * @param tries made so far
 * @param chance from 0 to 1
 * @returns null when the service asks for more than `LONGEST_WAIT`
 */
export function toWait(
  tries: number,
  retryAfter: number | undefined,
  chance: number,
): number | null {
  if (retryAfter !== undefined)
    return retryAfter * 1000 > LONGEST_WAIT
      ? null
      : Math.max(retryAfter * 1000, FIRST_WAIT * chance)
  return Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (tries - 1)) * chance
}
