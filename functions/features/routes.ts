import type { IncomingMessage } from 'node:http'
import type { H3Event, HTTPResponse } from 'h3'
import type { Refused } from '../../src/domain/wire/problems.ts'
import { type InputError, publicJson, Refusal, refuse, refuseParameters } from '../http/answers.ts'
import type { Log } from '../ports/log.ts'
import { splitTarget } from '../server/node-answers.ts'
import { clientOf, type LimitName, refuseTaken } from '../server/rate-limits.ts'
import { isStoreUnavailable, withPatience } from '../store/store.ts'
import type { Handler, Parts } from './feature.ts'

/**
 * Answers a route that needs the store: refuses writes from other sites, and answers 503, never 500,
 * while the store is down.
 */
export async function answerFromStore(
  { config, log }: Pick<Parts, 'config' | 'log'>,
  event: H3Event,
  answer: Handler,
): Promise<Response | HTTPResponse> {
  const { method, headers } = event.req
  const isWrite = method !== 'GET' && method !== 'HEAD'
  if (isWrite && isCrossSite((name) => headers.get(name), config.BASE_URL))
    refuse('cross-site', {
      detail: `Send this request from ${config.BASE_URL} itself, or from a client that is not a browser.`,
    })
  return withStore(log, async () => answer(event))
}

/** Limits how long work waits for the store, and refuses it while the store is down. */
export async function withStore<T>(log: Log, work: () => Promise<T>): Promise<T> {
  try {
    return await withPatience(work)
  } catch (error) {
    if (!isStoreUnavailable(error)) throw error
    log.error('store.unavailable', { reason: String(error) })
    return refuse('store-unavailable', {
      detail:
        'The store did not answer in time, so what you sent may be lost. Try again in a few minutes.',
      headers: { 'Retry-After': '30' },
    })
  }
}

/** Counts one request, and refuses it if the limit is used up. */
export async function countAgainst(
  { limits }: { limits: Pick<Parts['limits'], 'take'> },
  name: LimitName,
  key: string,
): Promise<void> {
  refuseTaken(await limits.take(name, key))
}

/**
 * CSRF: a browser sends its origin with every write. `Sec-Fetch-Site` decides if present, otherwise the whole
 * `Origin`; a write with neither header does not come from a browser, so it carries no victim's cookie.
 */
function isCrossSite(read: (header: string) => string | null | undefined, baseUrl: string) {
  const site = read('sec-fetch-site')
  if (site != null) return site !== 'same-origin' && site !== 'none'
  return (read('origin') ?? baseUrl) !== baseUrl
}

/** What `read` makes of a query: the data to answer with, the wrong parameters, or a complete answer. */
type Reply =
  | { view: unknown }
  | { problems: readonly InputError[]; extra?: Record<string, unknown> }
  | Response

/**
 * A JSON `GET` that any page may read, within the search limit.
 * @param read function that takes the text after `?`
 * @param caching `Cache-Control` of a successful answer
 */
export function createCountedGet(
  { problem, limits, config }: Pick<Parts, 'problem' | 'limits' | 'config'>,
  read: (query: string, event: H3Event) => Reply | Promise<Reply>,
  caching = 'public, max-age=60',
): Handler {
  return async (event) => {
    const taken = await limits.take('search', clientOf(event.req, config))
    refuseTaken(taken)
    const reply = await read(splitTarget(event.req.url).query, event)
    if (reply instanceof Response) return reply
    if ('problems' in reply) return refuseParameters(problem, reply.problems, reply.extra)
    return publicJson(reply.view, { 'Cache-Control': caching, ...taken.headers })
  }
}

const MAX_FORM_BYTES = 16 * 1024

/**
 * A page's data, or a refusal in the same words that programs get, with the form's name for each
 * wrong field.
 * @param labels names of the fields; without them the sentence about all fields is shown
 */
export async function orRefused<T>(
  { log }: Pick<Parts, 'log'>,
  work: () => Promise<T>,
  labels?: Readonly<Record<string, string>>,
): Promise<T | Refused> {
  try {
    return await withStore(log, work)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { code, options } = error
    const { detail, errors: [wrong] = [], headers } = options
    const label = labels?.[wrong?.name ?? '']
    const named = label === undefined ? wrong?.detail : `${label}: ${wrong?.detail}`
    const reason = labels === undefined ? detail : (named ?? detail)
    return { kind: 'refused', code, reason, ...(headers !== undefined && { headers }) }
  }
}

/** The fields of a form sent from this site, or of the query if no form was sent. */
export async function readSent(req: IncomingMessage, baseUrl: string): Promise<URLSearchParams> {
  if (req.method !== 'POST') return new URLSearchParams(splitTarget(req.url ?? '').query)
  if (isCrossSite((name) => req.headers[name]?.toString(), baseUrl))
    refuse('cross-site', { detail: 'Another site sent this form. Fill it in here.' })
  const bytes = await readForm(req)
  if (bytes === null) refuse('malformed-request', { detail: 'The form was cut off in transit.' })
  if (!/^application\/x-www-form-urlencoded\b/i.test(req.headers['content-type'] ?? ''))
    refuse('unsupported-media-type', {
      detail: 'Send the form as application/x-www-form-urlencoded.',
    })
  if (bytes === 'too long') refuse('payload-too-large', { detail: 'The form is too long.' })
  return new URLSearchParams(bytes.toString('utf8'))
}

/** Null if the body is cut off: an incomplete body is not judged. */
async function readForm(req: IncomingMessage): Promise<Buffer | 'too long' | null> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of req) {
      size += chunk.length
      // An overlong body is read and dropped, because the answer goes over the same connection.
      if (size <= MAX_FORM_BYTES) chunks.push(chunk)
    }
  } catch {
    return null
  }
  return size > MAX_FORM_BYTES ? 'too long' : Buffer.concat(chunks)
}
