import { resolve } from 'node:path'
import type { H3Event } from 'h3'
import {
  type ChangesView,
  type LogHead,
  toCursorText,
} from '../../src/domain/changes/change-log.ts'
import { ROUTES } from '../../src/domain/wire/route-table.ts'
import { splitTarget } from '../http/find-request-fault.ts'
import type { InputError } from '../http/problem.ts'
import { clientKey } from '../limits/client-key.ts'
import { refusalOf } from '../limits/rate-limits.ts'
import type { Handler } from '../parts/handler.ts'
import type { Parts } from '../parts/parts.ts'
import { type ChangeLog, createChangeLog } from './change-log.ts'
import { type ChangesQuery, readChangesQuery, type Since } from './read-changes-query.ts'

const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  // A cursor's answer changes the moment a release is published.
  'Cache-Control': 'no-cache',
  'X-Content-Type-Options': 'nosniff',
} as const

type ChangesParts = Pick<Parts, 'problem' | 'limits' | 'config' | 'release'>

/** Where in the log an answer begins: behind `after`; null where the log does not reach that far. */
type Start = { after: number } | null

/** `GET /api/v1/changes`: what was added, changed or removed, release by release. */
export function createChanges(parts: ChangesParts): Handler {
  const { problem, limits, config, release } = parts
  const log = createChangeLog(resolve(config.OUT_DIR))
  const dump = `${config.BASE_URL}${ROUTES.listings_dump.path}`
  const refuse = (errors: readonly InputError[], extra?: Record<string, unknown>) =>
    problem('invalid-parameter', {
      detail: errors.map(({ name, detail }) => `${name}: ${detail}`).join('; '),
      errors,
      ...(extra && { extra }),
    })
  return async function changes({ req }: H3Event) {
    const client = clientKey(req.ip, req.headers.get('x-forwarded-for'), config.TRUST_PROXY)
    const taken = await limits.take('search', client)
    const refusal = refusalOf(taken, problem)
    if (refusal !== null) return refusal
    const query = readChangesQuery(splitTarget(req.url).query)
    if ('errors' in query) return refuse(query.errors)
    const view = await readChanges(log, query, release().name)
    if (view === null) {
      const detail = `this log does not reach back to it; take every listing from ${dump} and go on from a new cursor`
      return refuse([{ in: 'query', name: 'since', detail }], { dump })
    }
    return Response.json(view, { headers: { ...HEADERS, ...taken.headers } })
  }
}

/** @returns null where the log does not hold everything that was asked for. */
async function readChanges(
  log: ChangeLog,
  { since, limit }: ChangesQuery,
  serving: string,
): Promise<ChangesView | null> {
  const head = await log.head()
  if (head === null)
    return since !== null && 'cursor' in since ? null : { changes: [], next: null, has_more: false }
  const last = lastShown(head, serving)
  const start = findStart(head, since, last)
  if (start === null) return null
  const changes = await log.rows(head, start.after, last, limit).catch((error: unknown) => {
    // A build removed the part a moment ago: the log has become shorter than what was asked for.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  })
  if (changes === null) return null
  const seq = changes.at(-1)?.seq ?? start.after
  return { changes, next: toCursorText({ log: head.log, seq }), has_more: seq < last }
}

/** Rows of a release that is published but not served yet would name what nobody can read. */
function lastShown(head: LogHead, serving: string): number {
  const isServing = (folder: string) => folder.split('.')[0] === serving
  return head.before !== null && isServing(head.before.release) && !isServing(head.release)
    ? head.before.seq
    : head.seq
}

function findStart(head: LogHead, since: Since, last: number): Start {
  const dropped = (head.parts[0]?.first ?? head.seq + 1) - 1
  if (since === null) return { after: dropped }
  if ('cursor' in since) {
    const { log, seq } = since.cursor
    return log === head.log && seq >= dropped && seq <= head.seq ? { after: seq } : null
  }
  // The rows of a part are one publication's, and have one time.
  const part = head.parts.find(({ at }) => at >= since.instant)
  if (part === undefined) return { after: last }
  return part.first === dropped + 1 && dropped > 0
    ? null
    : { after: Math.min(part.first - 1, last) }
}
