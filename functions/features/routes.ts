import type { H3Event } from 'h3'
import type * as v from 'valibot'
import type { ProblemCode } from '../../src/domain/wire/problems.ts'
import {
  type InputError,
  type MakeProblem,
  type ProblemOptions,
  publicJson,
  refuseParameters,
} from '../http/answers.ts'
import { type ObjectSchema, parseBody } from '../http/parse-body.ts'
import { splitTarget } from '../server/node-answers.ts'
import { clientOf, type LimitName, type LimitTaken, refusalOf } from '../server/rate-limits.ts'
import { isStoreUnavailable, withPatience } from '../store/store.ts'
import type { Handler, Parts, StoreRoute } from './feature.ts'

/** Ends a route with another answer than its own. It rolls back a transaction it leaves. */
class Refusal extends Error {
  override name = 'Refusal'
  readonly toAnswer: (problem: MakeProblem) => Response
  constructor(toAnswer: (problem: MakeProblem) => Response) {
    super('refused')
    this.toAnswer = toAnswer
  }
}

/** Refuses what is asked of a route, from wherever that is known. */
export function refuse(code: ProblemCode, options: ProblemOptions): never {
  throw new Refusal((problem) => problem(code, options))
}

/**
 * Shared by all routes that need the store: no writes from other sites, and a store that is down is
 * a 503, never a 500. Authorisation is done here, in the handler, not in a path-matching middleware.
 */
export function createStoreRoute(
  parts: Parts,
  answer: (event: H3Event) => Promise<Response>,
): StoreRoute {
  const { config, log, problem } = parts
  const route = async (event: H3Event): Promise<Response> => {
    const { method, headers } = event.req
    const isWrite = method !== 'GET' && method !== 'HEAD'
    try {
      if (isWrite && isCrossSite((name) => headers.get(name), config.BASE_URL))
        refuse('cross-site', {
          detail: `Send this request from ${config.BASE_URL} itself, or from a client that is not a browser.`,
        })
      return await withPatience(() => answer(event))
    } catch (error) {
      if (error instanceof Refusal) return error.toAnswer(problem)
      if (!isStoreUnavailable(error)) throw error
      log.error('store.unavailable', { reason: String(error) })
      return problem('store-unavailable', {
        detail:
          'The store did not answer in time, so what was sent may not be stored. Try again in a few minutes.',
        headers: { 'Retry-After': '30' },
      })
    }
  }
  return Object.assign(route, { needsStore: true as const })
}

/** Counts the request against a limit of its client, then reads its body. */
export async function takeBody<Schema extends ObjectSchema>(
  parts: Parts,
  name: LimitName,
  { req }: H3Event,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  await countAgainst(parts, name, clientOf(req, parts.config))
  const body = await parseBody(req, schema, parts.problem)
  if ('output' in body) return body.output
  const { refusal } = body
  throw new Refusal(() => refusal)
}

/** Counts one; refuses the request where the limit is used up. */
export async function countAgainst(
  { limits, problem }: Parts,
  name: LimitName,
  key: string,
): Promise<void> {
  refuseTaken(await limits.take(name, key), problem)
}

/** Refuses the request where a limit is used up. */
export function refuseTaken(taken: LimitTaken, problem: MakeProblem): void {
  const refusal = refusalOf(taken, problem)
  if (refusal !== null) throw new Refusal(() => refusal)
}

/**
 * CSRF: a browser sends its origin with every write. `Sec-Fetch-Site` decides if present, else the
 * whole `Origin`; a write with neither comes from no browser, and then no victim's cookie is on it.
 */
export function isCrossSite(read: (header: string) => string | null | undefined, baseUrl: string) {
  const site = read('sec-fetch-site')
  if (site != null) return site !== 'same-origin' && site !== 'none'
  return (read('origin') ?? baseUrl) !== baseUrl
}

/** What a reader found, which parameters are wrong, or a complete answer. */
type Reply =
  | { view: unknown }
  | { problems: readonly InputError[]; extra?: Record<string, unknown> }
  | Response

/**
 * A `GET` of JSON that any page may read, within the limit of searches.
 *
 * @param read gets the text after `?`
 * @param caching `Cache-Control` of a found result
 */
export function createCountedGet(
  { problem, limits, config }: Pick<Parts, 'problem' | 'limits' | 'config'>,
  read: (query: string, event: H3Event) => Reply | Promise<Reply>,
  caching = 'public, max-age=60',
): Handler {
  return async (event) => {
    const taken = await limits.take('search', clientOf(event.req, config))
    const refusal = refusalOf(taken, problem)
    if (refusal !== null) return refusal
    const reply = await read(splitTarget(event.req.url).query, event)
    if (reply instanceof Response) return reply
    if ('problems' in reply) return refuseParameters(problem, reply.problems, reply.extra)
    return publicJson(reply.view, { 'Cache-Control': caching, ...taken.headers })
  }
}
