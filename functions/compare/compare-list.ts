import type { H3Event } from 'h3'
import { ROUTES } from '../../src/domain/wire/route-table.ts'
import { splitTarget } from '../http/find-request-fault.ts'
import type { InputError } from '../http/problem.ts'
import { clientKey } from '../limits/client-key.ts'
import { refusalOf } from '../limits/rate-limits.ts'
import type { Handler } from '../parts/handler.ts'
import type { Parts } from '../parts/parts.ts'
import { type ComparisonParts, createComparison, readComparedIds } from './chosen-comparison.ts'

const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Cache-Control': 'public, max-age=60',
  'X-Content-Type-Options': 'nosniff',
} as const

/** `GET /api/v1/compare`: the comparison pages there are, or with `ids` the listings one chose. */
export function createCompareList(
  parts: ComparisonParts & Pick<Parts, 'problem' | 'limits'>,
): Handler {
  const { problem, release, limits, config } = parts
  const compare = createComparison(parts)
  const refuse = (errors: readonly InputError[]) =>
    problem('invalid-parameter', {
      detail: errors.map(({ name, detail }) => `${name}: ${detail}`).join('; '),
      errors,
    })
  return async function compareList({ req }: H3Event) {
    const { query } = splitTarget(req.url)
    if (query === '') return readList()
    const client = clientKey(req.ip, req.headers.get('x-forwarded-for'), config.TRUST_PROXY)
    const taken = await limits.take('search', client)
    const refusal = refusalOf(taken, problem)
    if (refusal !== null) return refusal
    const asked = readComparedIds(query)
    const reply = 'errors' in asked ? asked : await compare(asked.ids)
    if ('errors' in reply) return refuse(reply.errors)
    return Response.json(reply.view, { headers: { ...HEADERS, ...taken.headers } })
  }

  /** For a host without our file layer. */
  async function readList(): Promise<Response> {
    const bytes = (await release().files.read(ROUTES.compare_list.path)) ?? '{"pages":[]}'
    return new Response(new Uint8Array(Buffer.from(bytes)), {
      headers: { ...HEADERS, 'Content-Type': 'application/json' },
    })
  }
}
