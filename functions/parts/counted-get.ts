import type { H3Event } from 'h3'
import { type InputError, publicJson, refuseParameters } from '../http/answers.ts'
import { splitTarget } from '../server/node-answers.ts'
import { clientOf, refusalOf } from '../server/rate-limits.ts'
import type { Handler, Parts } from './parts.ts'

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
