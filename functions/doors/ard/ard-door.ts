import type { H3Event } from 'h3'
import * as v from 'valibot'
import {
  AGENT_CARD_TYPE,
  KIT_TYPE,
  parseUrn,
  SERVER_CARD_TYPE,
  toArdEntry,
} from '../../../src/domain/doors/ard-entry.ts'
import { MAX_QUERY_CHARACTERS } from '../../../src/domain/search/search-query.ts'
import type { ListingView } from '../../../src/domain/views/listing-view.ts'
import { publicJson } from '../../http/problem.ts'
import { createDirectory, type Directory, type DirectoryParts } from '../entry/directory.ts'
import { type DoorBodies, type DoorLimits, takeForDoor } from '../entry/door-limits.ts'
import { readDoorBody } from '../entry/read-door-body.ts'
import { readPageToken, toPageToken } from '../entry/read-page.ts'

const ARD_DEFAULT_PAGE = 10

const ARD_MOST_PAGE = 100

/** What a filter may name; each takes one value or several, of which one must fit. */
const FILTERS = {
  type: (view: ListingView, baseUrl: string) => [toArdEntry(view, baseUrl).type],
  kind: (view: ListingView) => [view.kind],
  category: (view: ListingView) => view.categories,
  rail: (view: ListingView) => (view.pricing.model === 'per_call' ? view.pricing.rails : []),
  tag: (view: ListingView) => view.tags,
} satisfies Record<string, (view: ListingView, baseUrl: string) => readonly string[]>

const values = v.pipe(
  v.union([v.pipe(v.string(), v.maxLength(100)), v.array(v.pipe(v.string(), v.maxLength(100)))]),
  v.transform((given) => (typeof given === 'string' ? [given] : given)),
)

const FilterSchema = v.strictObject({
  type: v.optional(
    v.pipe(
      values,
      v.everyItem(
        (type) => [AGENT_CARD_TYPE, KIT_TYPE, SERVER_CARD_TYPE].includes(type),
        `expected ${AGENT_CARD_TYPE}, ${SERVER_CARD_TYPE} or ${KIT_TYPE}`,
      ),
    ),
  ),
  kind: v.optional(values),
  category: v.optional(values),
  rail: v.optional(values),
  tag: v.optional(values),
})

/** Body of `POST /ard/search`; closed, as the protocol has it. */
const ArdSearchSchema = v.strictObject({
  query: v.strictObject({
    text: v.pipe(v.string(), v.maxLength(MAX_QUERY_CHARACTERS)),
    filter: v.optional(FilterSchema, {}),
  }),
  // We refer to no other registry, so the three mean the same here.
  federation: v.optional(v.picklist(['auto', 'referrals', 'none'])),
  pageSize: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(ARD_MOST_PAGE)),
    ARD_DEFAULT_PAGE,
  ),
  pageToken: v.optional(v.pipe(v.string(), v.maxLength(100))),
})

/** ARD's own errors, `{errorCode, message}`, with the HTTP status each goes with. */
const STATUSES = {
  INVALID_ARGUMENT: 400,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  RATE_LIMIT_EXCEEDED: 429,
  INTERNAL: 500,
} as const

const MAX_BODY_BYTES = 16 * 1024
/** Results looked at for one page: a filter that fits nothing must not read the whole directory. */
const MOST_SCANNED = 200
const SCAN_STEP = 50

type ArdSearch = v.InferOutput<typeof ArdSearchSchema>

/** `POST /ard/search`. */
export function createArdSearchDoor(parts: DirectoryParts & DoorLimits & DoorBodies) {
  const directory = createDirectory(parts, 'api')
  const baseUrl = parts.config.BASE_URL
  return async function ardSearch({ req }: H3Event): Promise<Response> {
    if (req.method !== 'POST')
      return toArdError('METHOD_NOT_ALLOWED', 'Search by POST.', { Allow: 'POST' })
    const body = await readDoorBody(parts, req, MAX_BODY_BYTES)
    if ('fault' in body) {
      const isFull = body.status === 429 || body.status === 503
      const code = isFull ? 'RATE_LIMIT_EXCEEDED' : 'INVALID_ARGUMENT'
      return toArdError(code, body.fault, body.headers)
    }
    const { taken } = body
    const parsed = v.safeParse(ArdSearchSchema, body.json)
    if (!parsed.success) return toArdError('INVALID_ARGUMENT', toSentence(parsed.issues), taken)
    const { pageToken, query } = parsed.output
    const start = pageToken === undefined ? '0' : readPageToken(pageToken, JSON.stringify(query))
    if (start === null)
      return toArdError('INVALID_ARGUMENT', 'pageToken: expected a token we gave.', taken)
    return publicJson(await findPage(directory, parsed.output, baseUrl, Number(start)), taken)
  }
}

async function findPage(directory: Directory, asked: ArdSearch, baseUrl: string, start: number) {
  const { text, filter } = asked.query
  const results: object[] = []
  let offset = start
  let total = Number.POSITIVE_INFINITY
  while (results.length < asked.pageSize && offset < total && offset - start < MOST_SCANNED) {
    const found = directory.search({ q: text, limit: SCAN_STEP, offset })
    if ('problems' in found) break
    total = found.total
    for (const row of found.rows) {
      if (results.length === asked.pageSize) break
      offset += 1
      const view = await directory.listing(row.id)
      if (view === null || !fitsArdFilter(view, filter, baseUrl)) continue
      results.push({
        ...toArdEntry(view, baseUrl),
        score: scoreOfRank(offset - 1),
        source: baseUrl,
      })
    }
    if (found.rows.length === 0) break
  }
  const pageToken = toPageToken(String(offset), JSON.stringify(asked.query))
  return { results, ...(offset < total && { pageToken }) }
}

/** `GET /ard/agents/{urn}`: one entry, whole. */
export function createArdAgentDoor(parts: DirectoryParts & DoorLimits) {
  const directory = createDirectory(parts, 'api')
  const baseUrl = parts.config.BASE_URL
  return async function ardAgent({ req, url }: H3Event): Promise<Response> {
    if (req.method !== 'GET' && req.method !== 'HEAD')
      return toArdError('METHOD_NOT_ALLOWED', 'Read by GET.', { Allow: 'GET, HEAD' })
    const { allowed, taken } = await takeForDoor(parts, 'search', req)
    if (!allowed) return toArdError('RATE_LIMIT_EXCEEDED', 'Too many requests.', taken)
    const urn = decode(url.pathname.slice(url.pathname.lastIndexOf('/') + 1))
    const id = urn === null ? null : parseUrn(urn, baseUrl)
    const view = id === null ? null : await directory.listing(id)
    if (view === null || toArdEntry(view, baseUrl).identifier !== urn)
      return toArdError('NOT_FOUND', 'No entry of ours has this identifier.', taken)
    return publicJson(toArdEntry(view, baseUrl), taken)
  }
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

function toSentence(issues: readonly v.BaseIssue<unknown>[]): string {
  return issues
    .slice(0, 5)
    .map((issue) => `${v.getDotPath(issue) ?? 'body'}: ${issue.message}`)
    .join('; ')
}

type ArdErrorCode = keyof typeof STATUSES

function toArdError(
  errorCode: ArdErrorCode,
  message: string,
  headers: Record<string, string>,
): Response {
  return publicJson({ errorCode, message }, headers, STATUSES[errorCode])
}

type ArdFilter = v.InferOutput<typeof FilterSchema>

/** AND across the keys of a filter, OR among the values of one. */
function fitsArdFilter(view: ListingView, filter: ArdFilter, baseUrl: string): boolean {
  return Object.entries(FILTERS).every(([name, read]) => {
    const wanted = Object.entries(filter).find(([key]) => key === name)?.[1]
    return wanted === undefined || read(view, baseUrl).some((value) => wanted.includes(value))
  })
}

/** 100 for the first result and falling with its rank: how well it fits, never trust. */
function scoreOfRank(rank: number): number {
  return Math.max(1, Math.round(100 / (1 + rank / 10)))
}
