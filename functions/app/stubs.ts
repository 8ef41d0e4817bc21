import type { H3Event } from 'h3'
import type { Parts } from '../parts/parts.ts'

/** The specification's roadmap stubs: 501, and nothing pretended. */
export function createStub({ problem }: Pick<Parts, 'problem'>) {
  return (_event: H3Event): Response =>
    problem('not-implemented', {
      detail: 'This endpoint is a roadmap stub. /api/v1/roadmap says what is live.',
    })
}
