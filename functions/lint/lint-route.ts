import type { H3Event } from 'h3'
import { PROBE_PROTOCOLS } from '../../src/domain/wire/vocabulary.ts'
import type { InputError } from '../http/problem.ts'
import type { Handler } from '../parts/handler.ts'
import type { Parts } from '../parts/parts.ts'
import { toCaller } from '../probe/stranger-runs.ts'
import type { Check, CheckRequest } from './check-page.ts'

const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  // What a service answers changes with every repair of its seller.
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
} as const
const NAMES = ['url', 'as']

/** `GET /api/v1/lint?url=&as=`: the report of `/sellers/check` for programs. */
export function createLint({ config, problem }: Pick<Parts, 'config' | 'problem'>, check: Check) {
  const refuse = (errors: readonly InputError[]) =>
    problem('invalid-parameter', {
      detail: errors.map(({ name, detail }) => `${name}: ${detail}`).join('; '),
      errors,
    })
  const lint: Handler = async (event: H3Event) => {
    const asked = readAsked(event.url.searchParams)
    if ('errors' in asked) return refuse(asked.errors)
    const answer = await check({ ...asked, caller: toCaller(event, config) })
    if (answer.kind === 'report') return Response.json(answer.report, { headers: HEADERS })
    if (answer.kind === 'empty' || answer.status === 400)
      return refuse([
        {
          in: 'query',
          name: 'url',
          detail: answer.kind === 'empty' ? 'expected the address of a service.' : answer.reason,
        },
      ])
    return problem('rate-limited', {
      detail: answer.reason,
      ...(answer.headers !== undefined && { headers: answer.headers }),
    })
  }
  return lint
}

function readAsked(
  query: URLSearchParams,
): Omit<CheckRequest, 'caller'> | { errors: InputError[] } {
  const wrong = (name: string, detail: string, allowed?: readonly string[]): InputError => ({
    in: 'query',
    name,
    detail,
    ...(allowed !== undefined && { allowed }),
  })
  const errors = [...new Set(query.keys())].flatMap((name) => {
    if (!NAMES.includes(name)) return [wrong(name, 'there is no such parameter.', NAMES)]
    return query.getAll(name).length > 1 ? [wrong(name, 'is given more than once.')] : []
  })
  const as = PROBE_PROTOCOLS.find((protocol) => protocol === query.get('as'))
  if (query.has('as') && as === undefined)
    errors.push(wrong('as', 'expected one of these.', PROBE_PROTOCOLS))
  return errors.length > 0 ? { errors } : { url: query.get('url')?.trim() ?? '', as }
}
