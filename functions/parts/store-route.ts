import type { H3Event } from 'h3'
import type * as v from 'valibot'
import type { ProblemCode } from '../../src/domain/wire/problems.ts'
import type { MakeProblem, ProblemOptions } from '../http/answers.ts'
import { type ObjectSchema, parseBody } from '../http/parse-body.ts'
import type { LimitName } from '../server/rate-limits.ts'
import { clientOf, type LimitTaken, refusalOf } from '../server/rate-limits.ts'
import { isStoreUnavailable, withPatience } from '../store/store.ts'
import type { Parts } from './parts.ts'

type Answer = (event: H3Event) => Promise<Response>
/** A route that needs the store, as the route table says. */
export type StoreRoute = Answer & { readonly needsStore: true }

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
export function createStoreRoute(parts: Parts, answer: Answer): StoreRoute {
  const { config, log, problem } = parts
  const route: Answer = async (event) => {
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
