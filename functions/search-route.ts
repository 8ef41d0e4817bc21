import { randomUUID } from 'node:crypto'
import { type H3Event, HTTPResponse } from 'h3'
import { splitTarget } from './http/find-request-fault.ts'
import type { Parts } from './parts.ts'
import { createSearch } from './search.ts'

/** `GET /api/v1/search` as h3 mounts it. */
export function createSearchRoute({ release, problem }: Pick<Parts, 'release' | 'problem'>) {
  const search = createSearch({
    index: () => release().search,
    texts: () => release().searchTexts,
    randomUuid: randomUUID,
  })
  return function searchRoute(event: H3Event): Response | HTTPResponse {
    const reply = search(splitTarget(event.req.url).query)
    if (reply.status === 200)
      return new HTTPResponse(reply.body, { status: 200, headers: reply.headers })
    const names = reply.problems.map(({ name }) => name).join(', ')
    return problem('invalid-parameter', {
      detail: `These parameters cannot be used: ${names}.`,
      errors: reply.problems,
    })
  }
}
