import { hash } from 'node:crypto'
import type { H3Event } from 'h3'
import * as v from 'valibot'
import { MAX_QUERY_CHARACTERS } from '../../src/domain/search/search-parameters.ts'
import {
  createJsonMeasure,
  type JsonShape,
  MOST_NESTED,
  parseJson,
} from '../../src/domain/wire/json.ts'
import { decodePercents } from '../../src/domain/wire/text.ts'
import type { Handler, Parts } from '../features/feature.ts'
import { publicJson } from '../http/answers.ts'
import { type Budget, createBudget, type Reached } from '../server/budget.ts'
import { clientOf } from '../server/rate-limits.ts'

type Holding = Exclude<ReturnType<Budget['take']>, string>

export type ProtocolLimits = Pick<Parts, 'limits' | 'config'>

/** Budgets that all endpoints with a body share, so that a client gains nothing by using two endpoints. */
export interface BodyBudgets {
  /** Bytes of bodies being read or processed. */
  bodies: Budget
}

const MIB = 1024 * 1024
export const BODY_LIMITS = { perClient: 4 * MIB, perNetwork: 16 * MIB, inAll: 64 * MIB }

export function createBodyBudgets(): BodyBudgets {
  return { bodies: createBudget(BODY_LIMITS) }
}

/** The request as h3 passes it on, with the peer's address and the connection. */
export type ProtocolRequest = H3Event['req']

/**
 * Counts `times` requests by the caller against the search limit, which all endpoints share.
 * @returns the rate limit fields for the answer, whether the request is refused or not
 */
async function takeForProtocol(parts: ProtocolLimits, req: ProtocolRequest, times = 1) {
  const client = clientOf(req, parts.config)
  let last = await parts.limits.take('search', client)
  for (let count = 1; count < times && last.allowed; count += 1)
    last = await parts.limits.take('search', client)
  return { allowed: last.allowed, taken: last.headers }
}

export interface ProtocolBody {
  json: unknown
  taken: Record<string, string>
  /** Counts the body's bytes at least until `work` is done; they are always counted until the answer is sent. */
  holdUntil(work: Promise<unknown>): void
}

/** Why a body cannot be read, as the status, JSON-RPC code and fields of the refusal. */
interface BodyFault {
  fault: string
  status: number
  code: number
  headers: Record<string, string>
}

/** Most values in a message: a megabyte of `{}` becomes thirty megabytes of objects. */
const MOST_VALUES = 20_000
/** Body bytes that are counted as one request: a large body is as much work as many small ones. */
const BYTES_A_REQUEST = 64 * 1024
const MOST_REQUESTS = 32
/** Bytes counted for a body before any of it has arrived. */
const PIECE = 64 * 1024
const READ_MS = 30_000

/**
 * Counts the request, then reads its JSON body of at most `max` bytes. Nothing is read from a caller whose limit is
 * used up or whose open bodies are too large; refused requests are counted as well.
 */
export async function readProtocolBody(
  parts: ProtocolLimits & BodyBudgets,
  req: ProtocolRequest,
  max: number,
): Promise<ProtocolBody | BodyFault> {
  const first = await takeForProtocol(parts, req)
  const refuse = (fault: Fault): BodyFault => ({
    ...fault,
    // Otherwise the unread rest of the body would be taken for the next request.
    headers: { ...first.taken, ...fault.headers, Connection: 'close' },
  })
  if (!first.allowed) return refuse(toLimited(first.taken))
  const announced = findAnnouncedFault(req, max)
  if (announced !== null) return refuse(announced)
  const read = await readHeld(parts, req, max)
  if ('fault' in read) return refuse(read)
  const { arrived, held } = read
  const message = parse(arrived)
  const cost = costOf(arrived)
  const rest = cost === 1 ? first : await takeForProtocol(parts, req, cost - 1)
  if ('fault' in message || !rest.allowed) {
    held.release()
    const { fault: sentence, ...why } = 'fault' in message ? message : toLimited(rest.taken)
    return { fault: sentence, ...why, headers: { ...rest.taken, ...why.headers } }
  }
  const holdUntil = releaseWhenDone(held)
  holdUntil(answerLeft(req))
  return { json: message.value, taken: rest.taken, holdUntil }
}

type Fault = Omit<BodyFault, 'headers'> & { headers?: Record<string, string> }

function findAnnouncedFault(req: Request, max: number): Fault | null {
  const type = req.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') return toFault('Send the message as application/json.', 415)
  return Number(req.headers.get('content-length') ?? 0) > max ? toTooLarge(max) : null
}

/** A body that was read to its end. */
interface Arrived {
  /** Empty if the shape exceeds the limits: such a body is never parsed. */
  pieces: Buffer[]
  size: number
  shape: JsonShape
}

async function readHeld(
  parts: ProtocolLimits & BodyBudgets,
  req: ProtocolRequest,
  max: number,
): Promise<{ arrived: Arrived; held: Holding } | Fault> {
  const client = clientOf(req, parts.config)
  const { promise: read, resolve: end } = Promise.withResolvers<Arrived | Fault>()
  const length = Number(req.headers.get('content-length') ?? Number.POSITIVE_INFINITY)
  const size = Math.min(PIECE, length)
  const reading = parts.bodies.take(client, { size, evict: () => end(toFull('process')) })
  if (typeof reading === 'string') return toFull(reading)
  const timer = setTimeout(() => end(LATE), READ_MS)
  readPieces(req, max, reading, end)
  const arrived = await read
  clearTimeout(timer)
  reading.release()
  if ('fault' in arrived) {
    req.runtime?.node?.req?.removeAllListeners('data').pause()
    return arrived
  }
  // A complete body is being processed and can no longer be evicted.
  const held = parts.bodies.take(client, { size: sizeOf(arrived.pieces) })
  return typeof held === 'string' ? toFull(held) : { arrived, held }
}

/** Reads Node's own stream: a web stream around it would double the cost. */
function readPieces(
  { runtime }: ProtocolRequest,
  max: number,
  reading: Holding,
  end: (read: Arrived | Fault) => void,
): void {
  const body = runtime?.node?.req
  if (body === undefined || body.destroyed) return void end(BROKEN)
  const measure = createJsonMeasure({ depth: MOST_NESTED, values: MOST_VALUES })
  let pieces: Buffer[] = []
  let size = 0
  body.on('data', (piece: Buffer) => {
    size += piece.length
    if (size > max) return end(toTooLarge(max))
    // The body is still read to its end: a sender that is cut off may never see the reason.
    if (!measure.add(piece)) pieces = []
    else {
      const full = reading.grow(piece.length)
      if (full !== null) return end(toFull(full))
      pieces.push(piece)
    }
  })
  body.once('end', () => end({ pieces, size, shape: measure.shape() }))
  body.once('close', () => end(BROKEN))
}

/** How many requests a body is counted as: one for each message in a batch; long bodies by their length. */
function costOf({ shape, size }: Arrived): number {
  return Math.min(MOST_REQUESTS, Math.max(1, shape.items, Math.ceil(size / BYTES_A_REQUEST)))
}

function findShapeFault({ depth, values }: JsonShape): Fault | null {
  if (depth > MOST_NESTED)
    return toFault(`A message may have at most ${MOST_NESTED} levels of nesting.`)
  return values > MOST_VALUES ? toFault(`A message may have at most ${MOST_VALUES} values.`) : null
}

function parse({ pieces, shape }: Arrived): { value: unknown } | Fault {
  const fault = findShapeFault(shape)
  if (fault !== null) return fault
  const value = parseJson(Buffer.concat(pieces).toString('utf8'))
  return value === undefined ? toFault('The body is not JSON.', 400, -32700) : { value }
}

function sizeOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}

function releaseWhenDone(held: Holding): (work: Promise<unknown>) => void {
  let open = 0
  return (work) => {
    open += 1
    const done = () => {
      open -= 1
      if (open === 0) held.release()
    }
    work.then(done, done)
  }
}

/** Resolves when the answer has been sent; at once if the request has no socket of ours. */
function answerLeft({ runtime }: ProtocolRequest): Promise<unknown> {
  const res = runtime?.node?.res
  return res === undefined || res.destroyed
    ? Promise.resolve()
    : new Promise((resolve) => res.once('close', resolve))
}

function toFault(fault: string, status = 400, code = -32600): Fault {
  return { fault, status, code }
}

const LATE = toFault(`The message did not arrive within ${READ_MS / 1000} s.`, 408)
const BROKEN = toFault('The connection broke before the message ended.')

function toTooLarge(max: number): Fault {
  return toFault(`A message may have at most ${max} bytes.`, 413)
}

function toLimited(taken: Record<string, string>): Fault {
  return toFault(`Too many requests; try again in ${taken['Retry-After']} s.`, 429, -32000)
}

function toFull(reached: Reached): Fault {
  const isOwn = reached !== 'process'
  const sentence = isOwn
    ? 'Too many bytes of messages are in flight for this client; try again after some of them are answered.'
    : 'Too many bytes of messages are in flight; try again.'
  return { ...toFault(sentence, isOwn ? 429 : 503, -32000), headers: { 'Retry-After': '1' } }
}

export type QueryReader = ReturnType<typeof readQuery>

export class QueryFault extends Error {}

/** Reads an endpoint's query strictly. @throws QueryFault naming an unknown or repeated parameter */
export function readQuery(search: string, known: readonly string[]) {
  const given = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(search)) {
    if (!known.includes(name))
      throw new QueryFault(
        `Unknown parameter ${name}; the known parameters are ${known.join(', ')}.`,
      )
    if (given.has(name)) throw new QueryFault(`${name} is given more than once.`)
    given.set(name, value)
  }
  return {
    text(name: string, max = 512): string | undefined {
      const value = given.get(name)
      if (value !== undefined && value.length > max)
        throw new QueryFault(`${name}: expected at most ${max} characters.`)
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
 * A read-only endpoint.
 * @param toRefusal writes an error in the protocol's form; some protocols share a form
 */
export function createReadEndpoint(
  parts: ProtocolLimits,
  refusal: string,
  answer: (url: URL) => Promise<Answered>,
  toRefusal: (status: number, error: string) => object = (_, error) => ({ error }),
): Handler {
  const refuse = (status: number, error: string, headers: Record<string, string>) =>
    publicJson(toRefusal(status, error), headers, status)
  return async ({ req, url }: H3Event): Promise<Response> => {
    if (req.method !== 'GET' && req.method !== 'HEAD')
      return refuse(405, refusal, { Allow: 'GET, HEAD, OPTIONS' })
    const { allowed, taken } = await takeForProtocol(parts, req)
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

/** Most characters in a cursor: a thousand-character query in any script, and the name where its page ended. */
const MOST_CURSOR = 6000
const QuestionSchema = v.tuple([v.string(), v.record(v.string(), v.string())])

/**
 * A page of a list read by GET: its query, where the previous page ended (undefined for the first
 * page), and the cursor for the next page. A cursor contains its search, because code editors
 * send the cursor without the search words.
 * @param known search parameters, in addition to `limit` and `cursor`
 * @throws QueryFault with `fault` for a cursor that was not issued, or is sent with another search
 */
export function readPagedQuery(search: string, known: readonly string[], fault: string) {
  const requested = readQuery(search, [...known, 'limit', 'cursor'])
  const own = known.flatMap((name): [string, string][] => {
    const value = requested.text(name, MAX_QUERY_CHARACTERS)
    return value === undefined ? [] : [[name, value]]
  })
  const cursor = requested.text('cursor', MOST_CURSOR)
  const [after, carried] = cursor === undefined ? [] : readCursor(cursor, fault)
  const question = carried ?? Object.fromEntries(own)
  if (own.some(([name, value]) => question[name] !== value)) throw new QueryFault(fault)
  const limit = requested.text('limit')
  const whole = new URLSearchParams({ ...question, ...(limit !== undefined && { limit }) })
  return {
    query: readQuery(whole.toString(), [...known, 'limit']),
    after,
    toCursor: (start: string) => toPageToken(JSON.stringify([start, question]), CURSOR),
  }
}

/** Marks cursors that contain their search; tokens of other endpoints have their own mark. */
const CURSOR = 'cursor'

function readCursor(cursor: string, fault: string) {
  const parsed = v.safeParse(QuestionSchema, parseJson(readPageToken(cursor, CURSOR, fault) ?? ''))
  if (!parsed.success) throw new QueryFault(fault)
  return parsed.output
}

/**
 * A cursor says where its page begins and contains a digest of the query it was issued for, so that
 * an invented cursor, or another query's cursor, is an error and not a first page. The server
 * stores nothing for a cursor, and the digest is not secret: a forged cursor leads to a page that
 * is public anyway.
 * @example readPageToken(toPageToken('20', 'weather'), 'weather', '…') → '20'
 */
export function toPageToken(start: string, question: string): string {
  const mark = hash('sha256', JSON.stringify([start, question]), 'base64url')
  return `${Buffer.from(start).toString('base64url')}.${mark.slice(0, 11)}`
}

/**
 * @returns the start of the page; undefined if there is no token
 * @throws QueryFault with the sentence `fault` for a token that was not issued for this query
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
  const decoded = decodePercents(encoded)
  if (decoded === null)
    throw new QueryFault(
      'The path has a percent sign without two hex digits, or bytes that are not UTF-8.',
    )
  return decoded
}
