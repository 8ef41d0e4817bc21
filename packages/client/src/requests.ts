import { parseRetryAfter } from '../../../src/domain/probe/finding.ts'
import { MAX_TERMS_BYTES } from '../../../src/domain/relay/payments.ts'
import { isJsonObject, parseJson } from '../../../src/domain/wire/json.ts'
import type { Problem } from './answers.ts'
import { WaypostError } from './waypost-error.ts'

/**
 * Every request by this client, and every body that it reads.
 *
 * Security model: sellers and directories are strangers. A body is counted while it is decompressed, chunk by chunk,
 * and cancelled at its limit, since four megabytes of gzip may decompress to four gigabytes. The time limit includes
 * reading the body, so an answer that never ends times out.
 *
 * Known limitations: the client may reach any host, because its user may want any.
 */
const KIB = 1024
export const MAX_DIRECTORY_BYTES = 16 * KIB * KIB
/** How many bytes of a seller's answer are read, unless the caller sets `maxBytes`. */
export const MAX_ANSWER_BYTES = 64 * KIB * KIB

/** The first wait before a retry, doubled each time (milliseconds). */
const FIRST_WAIT = 250
/** The longest wait between two tries (milliseconds); beyond it the caller must retry. */
const LONGEST_WAIT = 30_000
/** Statuses after which the same read may soon succeed. */
const PASSING = new Set([429, 502, 503, 504])

export interface Request extends RequestInit {
  url: string
}

interface Limits {
  fetch: typeof fetch
  /** Milliseconds until the answer is read to its end. */
  timeoutMs: number
  /** The longest body that is read, decompressed; for a 402 at most `MAX_TERMS_BYTES`. */
  maxBytes: number
}

/**
 * Sends a request once. Reading the answer's body fails with a WaypostError if the body is too
 * long, too slow, or cut off.
 * @throws WaypostError `unreachable` or `timeout` if no answer began
 */
export async function send({ url, signal, ...init }: Request, limits: Limits): Promise<Response> {
  const patience = AbortSignal.timeout(limits.timeoutMs)
  const fail = (cause: unknown, broken: string): unknown => {
    if (cause instanceof WaypostError) return cause
    if (signal?.aborted === true) return signal.reason
    if (patience.aborted)
      return new WaypostError('timeout', `${url} did not answer within ${limits.timeoutMs} ms`, {
        cause,
      })
    const inner = cause instanceof Error ? (cause.cause ?? cause) : cause
    const why = inner instanceof Error ? inner.message || inner.name : String(inner)
    return new WaypostError('unreachable', `${url} ${broken}: ${why}`, { cause })
  }
  const ends = signal == null ? patience : AbortSignal.any([signal, patience])
  const answer = await limits.fetch(url, { ...init, signal: ends }).catch((cause: unknown) => {
    throw fail(cause, 'could not be reached')
  })
  if (answer.body === null) return answer
  const isTerms = answer.status === 402
  const most = isTerms ? Math.min(MAX_TERMS_BYTES, limits.maxBytes) : limits.maxBytes
  const tooLong = `The ${isTerms ? '402' : 'answer'} from ${url} is longer than ${most} bytes, decompressed`
  const body = bound(answer.body, most, tooLong, (cause) => fail(cause, 'ended its answer early'))
  const { status, statusText, headers } = answer
  return new Response(body, { status, statusText, headers })
}

/** The same bytes, up to `most`; the first byte beyond `most` cancels the source. */
function bound(
  body: ReadableStream<Uint8Array>,
  most: number,
  tooLong: string,
  toFailure: (cause: unknown) => unknown,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let length = 0
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    try {
      const { value } = await reader.read()
      if (value === undefined) return controller.close()
      length += value.length
      if (length > most) throw new WaypostError('too-large', `${tooLong}; no more of it was read.`)
      controller.enqueue(value)
    } catch (cause) {
      void reader.cancel().catch(() => undefined)
      controller.error(toFailure(cause))
    }
  }
  // Nothing is read before the reader requests it.
  return new ReadableStream(
    { pull, cancel: (reason) => reader.cancel(reason) },
    { highWaterMark: 0 },
  )
}

/** Cancels an unread body; an error in the body is ignored. */
export function discard({ body }: Response): void {
  void body?.cancel().catch(() => undefined)
}

export interface AskOptions extends Pick<Limits, 'fetch' | 'timeoutMs'> {
  /** Tries after the first one, for requests that may be repeated. */
  retries: number
  headers: Record<string, string>
}

export interface Requested extends Request {
  /** Whether all transient failures are retried, as for reads. */
  mayRepeat: boolean
}

/**
 * Sends a request to the directory and parses its JSON; repeatable requests are retried after transient failures.
 * @throws WaypostError with the directory's problem document, or the reason why there is no answer
 */
export async function askJson<Answer>(requested: Requested, options: AskOptions): Promise<Answer> {
  for (let tries = 1; ; tries += 1)
    try {
      return await askOnce<Answer>(requested, options)
    } catch (error) {
      if (tries > options.retries || !mayPass(error, requested.mayRepeat)) throw error
      const ms = toWait(tries, error.retryAfter, Math.random())
      if (ms === null) throw error
      await wait(ms, requested.signal)
    }
}

function mayPass(error: unknown, mayRepeat: boolean): error is WaypostError {
  if (!(error instanceof WaypostError)) return false
  // A rate-limited request had no effect, so any request may be repeated.
  if (!mayRepeat && error.status !== 429) return false
  return error.status === 0
    ? error.code === 'unreachable' || error.code === 'timeout'
    : PASSING.has(error.status)
}

async function askOnce<Answer>(
  { mayRepeat: _, ...request }: Requested,
  options: AskOptions,
): Promise<Answer> {
  const headers = toHeaders({ accept: 'application/json' }, options.headers, request.headers)
  const limits = { ...options, maxBytes: MAX_DIRECTORY_BYTES }
  const response = await send({ ...request, headers }, limits)
  const text = await response.text()
  const { ok, status } = response
  if (!ok) throw toProblemError(request.url, response, text)
  try {
    // The service's published types are trusted; nothing in the answer is executed.
    return JSON.parse(text)
  } catch (cause) {
    const message = `${request.url} answered ${status} without JSON; is this a Waypost directory?`
    throw new WaypostError('unreadable', message, { status, cause })
  }
}

/** If two fields have the same name in any case, the later field is sent. */
export function toHeaders(...groups: (HeadersInit | undefined)[]): Headers {
  const headers = new Headers()
  for (const group of groups)
    for (const [name, value] of new Headers(group).entries()) headers.set(name, value)
  return headers
}

/** Waits this many milliseconds, or less if the signal aborts. */
function wait(ms: number, signal: AbortSignal | null | undefined): Promise<void> {
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

/** The directory's own message about a failure status. */
function toProblemError(url: string, { status, headers }: Response, text: string): WaypostError {
  const problem = readProblem(text)
  const retryAfter = parseRetryAfter(headers.get('retry-after'), Date.now())
  return new WaypostError(
    problem?.code ?? `http-${status}`,
    problem?.detail ?? `${url} answered ${status}`,
    {
      status,
      ...(problem !== undefined && { problem }),
      ...(retryAfter !== null && { retryAfter }),
    },
  )
}

/** The directory's or its relay's error document; undefined for any other text. */
export function readProblem(text: string): Problem | undefined {
  const value = parseJson(text)
  return isProblem(value) ? value : undefined
}

/** The two members that are used here are checked; the service's published contract covers the rest. */
function isProblem(value: unknown): value is Problem {
  return isJsonObject(value) && typeof value.code === 'string' && typeof value.detail === 'string'
}

/**
 * Milliseconds before the next try: as the service requested, otherwise exponential with full jitter.
 * @param chance random number from 0 to 1
 * @param tries number of tries made so far
 * @returns null if the service asks for more than `LONGEST_WAIT`
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
