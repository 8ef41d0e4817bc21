import { hash } from 'node:crypto'
import type { H3Event } from 'h3'
import * as v from 'valibot'
import { MAX_QUERY_CHARACTERS } from '../../../src/domain/search/search-query.ts'
import { parseJson } from '../../../src/domain/wire/parse-json.ts'
import { publicJson } from '../../http/answers.ts'
import type { Handler } from '../../parts/parts.ts'
import { type DoorLimits, takeForDoor } from './door-limits.ts'

export type QueryReader = ReturnType<typeof readQuery>

export class QueryFault extends Error {}

/**
 * Reads a door's query strictly.
 *
 * @throws QueryFault naming an unknown or repeated parameter
 */
export function readQuery(search: string, known: readonly string[]) {
  const given = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(search)) {
    if (!known.includes(name))
      throw new QueryFault(`Unknown parameter ${name}; there are ${known.join(', ')}.`)
    if (given.has(name)) throw new QueryFault(`${name} is given more than once.`)
    given.set(name, value)
  }
  return {
    text(name: string, max = 512): string | undefined {
      const value = given.get(name)
      if (value !== undefined && value.length > max)
        throw new QueryFault(`${name}: at most ${max} characters.`)
      return value
    },
    whole(name: string, least: number, most: number): number | undefined {
      const value = given.get(name)
      if (value === undefined) return undefined
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      if (!(number >= least && number <= most))
        throw new QueryFault(`${name}: expected a whole number from ${least} to ${most}.`)
      return number
    },
    flag(name: string): boolean | undefined {
      const value = given.get(name)
      if (value === undefined) return undefined
      if (value !== 'true' && value !== 'false')
        throw new QueryFault(`${name}: expected true or false.`)
      return value === 'true'
    },
  }
}

export type Answered = { body: unknown } | { status: number; error: string }

/**
 * A read-only door.
 * @param toRefusal an error in its protocol's form; the MCP registry and x402 discovery share one
 */
export function createReadDoor(
  parts: DoorLimits,
  refusal: string,
  answer: (url: URL) => Promise<Answered>,
  toRefusal: (status: number, error: string) => object = (_, error) => ({ error }),
): Handler {
  const refuse = (status: number, error: string, headers: Record<string, string>) =>
    publicJson(toRefusal(status, error), headers, status)
  return async ({ req, url }: H3Event): Promise<Response> => {
    if (req.method !== 'GET' && req.method !== 'HEAD')
      return refuse(405, refusal, { Allow: 'GET, HEAD, OPTIONS' })
    const { allowed, taken } = await takeForDoor(parts, 'search', req)
    if (!allowed) return refuse(429, 'Too many requests', taken)
    try {
      // The path as it was sent: a name contains an encoded slash.
      const answered = await answer(new URL(req.url, url))
      return 'body' in answered
        ? publicJson(answered.body, taken)
        : refuse(answered.status, answered.error, taken)
    } catch (error) {
      if (error instanceof QueryFault) return refuse(400, error.message, taken)
      throw error
    }
  }
}

/** A page of a list read by GET: its query, where it begins, and the cursor of the next one. */
export interface PagedQuery {
  query: QueryReader
  /** Where the page before ended; undefined for the first one. */
  after: string | undefined
  toCursor(start: string): string
}

/** Room for a query of a thousand characters of any script, and a name. */
const MOST_CURSOR = 6000
const QuestionSchema = v.tuple([v.string(), v.record(v.string(), v.string())])

/**
 * A cursor carries the search that it belongs to, because editors send it without the search words.
 *
 * @param known parameters of the search, in addition to `limit` and `cursor`
 * @throws QueryFault with `fault` for a cursor that was not issued, or comes with another search
 */
export function readPagedQuery(
  search: string,
  known: readonly string[],
  fault: string,
): PagedQuery {
  const asked = readQuery(search, [...known, 'limit', 'cursor'])
  const own = known.flatMap((name): [string, string][] => {
    const value = asked.text(name, MAX_QUERY_CHARACTERS)
    return value === undefined ? [] : [[name, value]]
  })
  const cursor = asked.text('cursor', MOST_CURSOR)
  const [after, carried] = cursor === undefined ? [] : readCursor(cursor, fault)
  const question = carried ?? Object.fromEntries(own)
  if (own.some(([name, value]) => question[name] !== value)) throw new QueryFault(fault)
  const limit = asked.text('limit')
  const whole = new URLSearchParams({ ...question, ...(limit !== undefined && { limit }) })
  return {
    query: readQuery(whole.toString(), [...known, 'limit']),
    after,
    toCursor: (start) => toPageToken(JSON.stringify([start, question]), CURSOR),
  }
}

/** Tokens of doors that carry their search; those of other doors have their own mark. */
const CURSOR = 'cursor'

function readCursor(cursor: string, fault: string) {
  const parsed = v.safeParse(QuestionSchema, parseJson(readPageToken(cursor, CURSOR, fault) ?? ''))
  if (!parsed.success) throw new QueryFault(fault)
  return parsed.output
}

/**
 * A cursor says where its page begins and carries a digest of the query it was issued for, so that
 * an invented one, or one from another query, is an error and not a first page. Nothing is stored
 * for it, and the digest is not secret: a forged one leads to a page that is free anyway.
 *
 * @example readPageToken(toPageToken('20', 'weather'), 'weather', '…') → '20'
 */
export function toPageToken(start: string, question: string): string {
  const mark = hash('sha256', JSON.stringify([start, question]), 'base64url')
  return `${Buffer.from(start).toString('base64url')}.${mark.slice(0, 11)}`
}

/**
 * @returns undefined without a token
 * @throws QueryFault with this sentence for a token that was not issued for this query
 */
export function readPageToken(token: string | undefined, question: string, fault: string) {
  if (token === undefined) return undefined
  const [encoded = ''] = token.split('.')
  const start = Buffer.from(encoded, 'base64url').toString('utf8')
  if (toPageToken(start, question) !== token) throw new QueryFault(fault)
  return start
}

/** @example readPathPart('com.example%2Fweather') → 'com.example/weather' */
export function readPathPart(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    throw new QueryFault('The path has a percent sign that encodes nothing.')
  }
}
