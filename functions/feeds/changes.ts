import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { H3Event } from 'h3'
import * as v from 'valibot'
import { type Feed, renderAtomFeed, toJsonFeed } from '../../src/components/feeds/atom-feed.ts'
import {
  parseSearchParameters,
  type SearchQuery,
} from '../../src/domain/search/search-parameters.ts'
import {
  type Change,
  ChangeSchema,
  type ChangesSchema,
  describeChange,
  type LogHead,
  LogHeadSchema,
} from '../../src/domain/sellers/change-log.ts'
import { parseJson } from '../../src/domain/wire/json.ts'
import { pagePath } from '../../src/domain/wire/links.ts'
import { codeOf } from '../../src/domain/wire/problems.ts'
import { ROUTES } from '../../src/domain/wire/routes.ts'
import { InstantSchema } from '../../src/domain/wire/shapes.ts'
import { readId, type SearchIndex } from '../../src/search/index/index-file.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import type { Handler, Parts } from '../features/feature.ts'
import { createCountedGet } from '../features/routes.ts'
import { findNameErrors, type InputError, refuseParameters, toQueryError } from '../http/answers.ts'
import { toUnknownText } from '../release/release.ts'
import { clientOf, refuseTaken } from '../server/rate-limits.ts'

/** What changed in the directory, as an endpoint and as feeds for a listing or a search. */
export function createChangesFeature(parts: Omit<Parts, 'ledger'>) {
  const feed = createFeeds(parts)
  return {
    routes: {
      changes: createChanges(parts),
      listing_atom: feed,
      listing_feed: feed,
      search_atom: feed,
      search_feed: feed,
    },
  }
}

const DEFAULT_LIMIT = 100

const MAX_LIMIT = 1000

const NAMES = ['since', 'limit']

/** An instant of RFC 3339, or a day; a plus sign that was not encoded arrives as a space. */
const INSTANT =
  /^(\d{4}-\d\d-\d\d)(?:(T\d\d:\d\d:\d\d(?:\.\d{1,9})?)(Z|[+ -](?:[01]\d|2[0-3]):[0-5]\d))?$/

/** The answer for a cursor changes the moment a release is published. */
const CACHING = 'no-cache'

/** `GET /api/v1/changes`: what was added, changed or removed, release by release. */
function createChanges(parts: Pick<Parts, 'problem' | 'limits' | 'config' | 'release'>): Handler {
  const { config, release } = parts
  const log = createChangeLog(resolve(config.OUT_DIR))
  const dump = `${config.BASE_URL}${ROUTES.listings_dump.path}`
  const read = async (text: string) => {
    const query = readChangesQuery(text)
    if ('problems' in query) return query
    const view = await readChanges(log, query, release().name)
    if (view !== null) return { view }
    const detail = `this log does not reach back that far; read all listings from ${dump} and continue with a new cursor`
    return { problems: [toQueryError('since', detail)], extra: { dump } }
  }
  return createCountedGet(parts, read, CACHING)
}

type ChangesView = v.InferOutput<typeof ChangesSchema>

/** @returns null if the log does not hold everything that was requested */
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
  const changes: Change[] = []
  try {
    for await (const rows of log.parts(head, start.after, Math.min(last, start.after + limit)))
      for (const row of rows) changes.push(row)
  } catch (error) {
    // A build has just removed this part: the log no longer reaches that far back.
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
  const seq = changes.at(-1)?.seq ?? start.after
  return { changes, next: toCursorText({ log: head.log, seq }), has_more: seq < last }
}

/** The last row to show: listings in a release that is published but not served yet cannot be opened. */
function lastShown(head: LogHead, serving: string): number {
  const isServing = (folder: string) => folder.split('.')[0] === serving
  return head.before !== null && isServing(head.before.release) && !isServing(head.release)
    ? head.before.seq
    : head.seq
}

/** The row after which an answer begins; null if the log does not reach back that far. */
function findStart(head: LogHead, since: Since, last: number): { after: number } | null {
  const dropped = (head.parts[0]?.first ?? head.seq + 1) - 1
  if (since === null) return { after: dropped }
  if ('cursor' in since) {
    const { log, seq } = since.cursor
    return log === head.log && seq >= dropped && seq <= head.seq ? { after: seq } : null
  }
  // The rows in a part come from one publication and share its time.
  const part = head.parts.find(({ at }) => at >= since.instant)
  if (part === undefined) return { after: last }
  return part.first === dropped + 1 && dropped > 0
    ? null
    : { after: Math.min(part.first - 1, last) }
}

/** Where the answer begins: after a cursor, at an instant (ISO 8601 UTC), or at the first row. */
type Since = { cursor: LogCursor } | { instant: string } | null

type ChangesQuery = { since: Since; limit: number }

/** `since=…&limit=…`; reports every error at once. */
function readChangesQuery(query: string): ChangesQuery | { problems: InputError[] } {
  const parameters = new URLSearchParams(query)
  const problems = findNameErrors(parameters, NAMES)
  const limit = toLimit(parameters.get('limit'))
  if (limit === null)
    problems.push(toQueryError('limit', `expected a whole number from 1 to ${MAX_LIMIT}`))
  const since = toSince(parameters.get('since'))
  if (since === undefined)
    problems.push(
      toQueryError(
        'since',
        'expected the `next` value of an earlier answer, or a time such as 2026-11-20T00:00:00Z',
      ),
    )
  return problems.length > 0 || limit === null || since === undefined
    ? { problems }
    : { since, limit }
}

function toLimit(text: string | null): number | null {
  if (text === null) return DEFAULT_LIMIT
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0
  return limit >= 1 && limit <= MAX_LIMIT ? limit : null
}

function toSince(text: string | null): Since | undefined {
  if (text === null) return null
  const cursor = parseCursor(text)
  if (cursor !== null) return { cursor }
  const [, day, time = 'T00:00:00', zone = 'Z'] = INSTANT.exec(text) ?? []
  if (day === undefined || !v.is(InstantSchema, `${day}${time}Z`)) return undefined
  const at = Date.parse(`${day}${time}${zone.replace(' ', '+')}`)
  return Number.isNaN(at) ? undefined : { instant: new Date(at).toISOString() }
}

type ChangeLog = ReturnType<typeof createChangeLog>

/** The change log as builds write it, next to the releases (`src/build/changes.ts`). */
export function createChangeLog(outDir: string) {
  const dir = join(outDir, 'changes')
  let known: { stamp: string; head: LogHead | null } | undefined
  return {
    /** Null if no build wrote a log, for example in a folder that holds only a release. */
    async head(): Promise<LogHead | null> {
      const path = join(dir, 'head.json')
      const info = await stat(path).catch(() => null)
      if (info === null) return null
      const stamp = `${info.ino} ${info.mtimeMs} ${info.size}`
      if (known?.stamp !== stamp) {
        const parsed = v.safeParse(LogHeadSchema, parseJson(await readFile(path, 'utf8')))
        known = { stamp, head: parsed.success ? parsed.output : null }
      }
      return known.head
    },
    /** Rows after `after` up to `last`, one part of the log at a time. */
    async *parts(head: LogHead, after: number, last: number): AsyncGenerator<Change[]> {
      for (const part of head.parts) {
        if (part.last <= after || part.first > last) continue
        const lines = (await readFile(join(dir, part.file), 'utf8')).split('\n')
        // The rows in a part are consecutive, so unwanted lines need not be parsed.
        const wanted = lines.slice(Math.max(0, after + 1 - part.first), last + 1 - part.first)
        yield wanted
          .filter((text) => text !== '')
          .map((text) => v.parse(ChangeSchema, JSON.parse(text)))
      }
    },
  }
}

/**
 * Resumes reading a log where the last read ended: each publication's rows are read once.
 * @param keep called with each row; `forget` is called when another log begins or the log is gone
 * @param lastOf gives the number of the last row to read
 */
export function followLog(
  log: ChangeLog,
  { keep, forget }: { keep(row: Change): void; forget(): void },
  lastOf: (head: LogHead) => number = ({ seq }) => seq,
): () => Promise<void> {
  let read = { log: '', seq: 0 }
  let reading = Promise.resolve()
  const readOn = async () => {
    const head = await log.head()
    if (head?.log !== read.log) {
      forget()
      read = { log: head?.log ?? '', seq: 0 }
    }
    if (head === null) return
    for await (const rows of log.parts(head, read.seq, lastOf(head)))
      for (const row of rows) {
        keep(row)
        read.seq = row.seq
      }
  }
  return () => {
    // One reader at a time: two would count the same rows twice. A build drops old parts only after
    // it has written a new head that no longer names them.
    reading = reading.then(readOn, readOn).catch(readOn)
    return reading
  }
}

/** Most changes kept for a listing, and most entries in a feed. */
const KEPT = 20
const FEED_LENGTH = 50
/** A search's feed follows only its first results, as far down as people read. */
const FOLLOWED_RESULTS = 50

/** `/listing/<id>.atom` and `.json`, `/search.atom?…` and `.json`: what changed, newest first. */
export function createFeeds(parts: Omit<Parts, 'ledger'>): Handler {
  const { limits, config } = parts
  const changesOf = createChangeIndex(parts)
  return async function feed({ req, url }: H3Event) {
    const taken = await limits.take('search', clientOf(req, config))
    refuseTaken(taken)
    const subject = findSubject(parts, url)
    if (subject instanceof Response) return subject
    const made = toFeed(parts, await changesOf(subject.ids), {
      page: subject.page,
      self: url.pathname + url.search,
    })
    const isAtom = url.pathname.endsWith('.atom')
    return new Response(isAtom ? renderAtomFeed(made) : `${JSON.stringify(toJsonFeed(made))}\n`, {
      headers: {
        'Content-Type': `application/${isAtom ? 'atom+xml; charset=utf-8' : 'feed+json'}`,
        'Cache-Control': 'no-cache',
        'Access-Control-Allow-Origin': '*',
        'X-Content-Type-Options': 'nosniff',
        ...taken.headers,
      },
    })
  }
}

/** The listings of a feed, and the page it belongs to. */
function findSubject(parts: Pick<Parts, 'problem' | 'release'>, { pathname, search }: URL) {
  const { problem, release } = parts
  const [, id] = /^\/listing\/(.*)\.(?:atom|json)$/.exec(pathname) ?? []
  if (id !== undefined)
    return release().listings.has(id) || release().gone.has(id)
      ? { ids: [id], page: pagePath(id) }
      : problem('listing-not-found', { detail: toUnknownText(release(), id) })
  const query = search.slice(1)
  const parsed = parseSearchParameters(query, release().search.filters)
  if ('problems' in parsed) return refuseParameters(problem, parsed.problems)
  return { ids: findFirst(release().search, parsed.query), page: `/search?${query}` }
}

/** Ids that a search finds first. */
function findFirst(index: SearchIndex, query: SearchQuery): string[] {
  const requested = { ...query, offset: 0, limit: FOLLOWED_RESULTS }
  return searchIndex(index, requested).organic.rows.map((row) => readId(index, row.row))
}

function toFeed(
  { config, release }: Pick<Parts, 'config' | 'release'>,
  changes: readonly Change[],
  { page, self }: { page: string; self: string },
): Feed {
  const { site, listings } = release()
  const { BASE_URL: baseUrl } = config
  return {
    author: site.name,
    title: `${site.name}: changes to ${page.slice(1)}`,
    home: baseUrl + page,
    self: baseUrl + self,
    entries: changes.map((change) => {
      const words = describeChange(change)
      const url = baseUrl + pagePath(change.id)
      return {
        id: `${url}#${change.seq}`,
        title: `${listings.get(change.id)?.name ?? change.id}: ${words[0] ?? change.change}`,
        summary: words.join('\n'),
        ...{ url, at: change.at },
      }
    }),
  }
}

/** Changes that matter to readers, by listing; only for listings whose pages can be opened. */
function createChangeIndex({ config, release }: Pick<Parts, 'config' | 'release'>) {
  const byId = new Map<string, Change[]>()
  const readOn = followLog(
    createChangeLog(resolve(config.OUT_DIR)),
    {
      keep(row) {
        if (isNews(row)) byId.set(row.id, [...(byId.get(row.id) ?? []), row].slice(-KEPT))
      },
      forget: () => byId.clear(),
    },
    (head) => lastShown(head, release().name),
  )
  return async function changesOf(ids: readonly string[]): Promise<Change[]> {
    await readOn()
    const found = ids.flatMap((id) => byId.get(id) ?? [])
    return found.sort((a, b) => b.seq - a.seq).slice(0, FEED_LENGTH)
  }
}

/** True if a listing came or left, or if a fact that callers rely on changed; changed prose is not news. */
function isNews({ change, facts = {} }: Change): boolean {
  return change !== 'changed' || Object.keys(facts).length > 0
}

/** A place in a log: everything up to `seq` has been seen. */
interface LogCursor {
  log: string
  seq: number
}

/** @example toCursorText({ log: '0123456789abcdef', seq: 7 }) → '0123456789abcdef-7' */
function toCursorText({ log, seq }: LogCursor): string {
  return `${log}-${seq}`
}

function parseCursor(text: string): LogCursor | null {
  const [, log, seq] = /^([0-9a-f]{16})-(\d{1,15})$/.exec(text) ?? []
  return log === undefined || seq === undefined ? null : { log, seq: Number(seq) }
}
