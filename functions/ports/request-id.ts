import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'

interface Mark {
  id: string | null
}

const marks = new AsyncLocalStorage<Mark>()

/** What a proxy in front may name a request. */
const GIVEN_ID = /^[\w-]{1,64}$/

/**
 * Runs the work of one request. Its log lines carry one id, and so does the 500 it may end with:
 * `given` by the proxy in front where that is believed and well-formed, else made when first needed.
 */
export function withRequestId<T>(given: string | null, work: () => T): T {
  const id = given !== null && GIVEN_ID.test(given) ? given : null
  return marks.run({ id }, work)
}

/** The id of the request whose work this is; null outside of one. */
export function currentRequestId(): string | null {
  const mark = marks.getStore()
  if (mark === undefined) return null
  mark.id ??= randomUUID()
  return mark.id
}
