import { randomUUID } from 'node:crypto'
import { type H3Event, HTTPResponse } from 'h3'
import type { ClickSource } from '../src/domain/vocabulary.ts'
import { clientKey } from './client-key.ts'
import { splitTarget } from './http/find-request-fault.ts'
import type { Parts } from './parts.ts'
import { refusalOf } from './rate-limits.ts'
import { createSearch } from './search.ts'

type SearchRouteParts = Pick<Parts, 'release' | 'problem' | 'limits' | 'config' | 'ledger'>

/** `GET /api/v1/search` as h3 mounts it. */
export function createSearchRoute(parts: SearchRouteParts) {
  const { problem, limits, config } = parts
  const search = createPlainSearch(parts, 'api')
  return async function searchRoute({ req }: H3Event): Promise<Response | HTTPResponse> {
    const taken = await limits.take(
      'search',
      clientKey(req.ip, req.headers.get('x-forwarded-for'), config.TRUST_PROXY),
    )
    const refusal = refusalOf(taken, problem)
    if (refusal !== null) return refusal
    const reply = search(splitTarget(req.url).query)
    if (reply.status === 200)
      return new HTTPResponse(reply.body, {
        status: 200,
        headers: { ...reply.headers, ...taken.headers },
      })
    const names = reply.problems.map(({ name }) => name).join(', ')
    return problem('invalid-parameter', {
      detail: `These parameters cannot be used: ${names}.`,
      errors: reply.problems,
    })
  }
}

/** The same search for a page rendered on demand: the parsed answer, or the problems found. */
export function createPageSearch(parts: SearchRouteParts) {
  const search = createPlainSearch(parts, 'web')
  return (rawQuery: string): unknown => {
    const reply = search(rawQuery)
    return reply.status === 200
      ? JSON.parse(new TextDecoder().decode(reply.body))
      : { problems: reply.problems }
  }
}

function createPlainSearch({ release, ledger }: SearchRouteParts, src: ClickSource) {
  return createSearch({
    index: () => release().search,
    texts: () => release().searchTexts,
    randomUuid: randomUUID,
    onShown: (listingIds) => ledger.usage.searched(listingIds, src),
  })
}
