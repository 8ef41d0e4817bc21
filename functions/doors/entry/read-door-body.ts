import {
  createJsonMeasure,
  type JsonShape,
  MOST_NESTED,
} from '../../../src/domain/wire/parse-json.ts'
import type { Holding, Reached } from '../../server/budget.ts'
import { clientOf } from '../../server/rate-limits.ts'
import {
  type DoorBodies,
  type DoorLimits,
  type DoorRequest,
  LONG_BODY,
  takeForDoor,
} from './door-limits.ts'

export interface DoorBody {
  json: unknown
  taken: Record<string, string>
  /** Its bytes also stay counted until `work` is done; the answer is awaited anyway. */
  holdUntil(work: Promise<unknown>): void
}

/** Why a body cannot be read: status, JSON-RPC code and fields of the refusal. */
export interface BodyFault {
  fault: string
  status: number
  code: number
  headers: Record<string, string>
}

/** A megabyte of `{}` becomes thirty megabytes of objects. */
const MOST_VALUES = 20_000
/** Body bytes that count as one request: a large body is as much work as many small ones. */
const BYTES_A_REQUEST = 64 * 1024
const MOST_REQUESTS = 32
/** Bytes buffered before the next chunk of a body is requested. */
const PIECE = LONG_BODY
const READ_MS = 30_000

/**
 * Counts the request, then reads its JSON body of at most `max` bytes. Nothing is read from a
 * caller whose limit is used up or who holds too much already, and refusals count as well.
 */
export async function readDoorBody(
  parts: DoorLimits & DoorBodies,
  req: DoorRequest,
  max: number,
): Promise<DoorBody | BodyFault> {
  const first = await takeForDoor(parts, 'search', req)
  const refuse = (fault: Fault, taken = first.taken): BodyFault => ({
    ...fault,
    // The unread rest would be taken for the next request.
    headers: { ...taken, ...fault.headers, Connection: 'close' },
  })
  if (!first.allowed) return refuse(toLimited(first.taken))
  const announced = findAnnouncedFault(req, max)
  if (announced !== null) return refuse(announced)
  const read = await readHeld(parts, req, max)
  if ('fault' in read) return refuse(read)
  const { arrived, held } = read
  const message = await parseInTurn(parts, req, arrived)
  const cost = costOf(arrived)
  const rest = cost === 1 ? first : await takeForDoor(parts, 'search', req, cost - 1)
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
  /** None where its shape exceeds the limits: no objects are made of it. */
  pieces: Buffer[]
  size: number
  shape: JsonShape
}

async function readHeld(
  parts: DoorLimits & DoorBodies,
  req: DoorRequest,
  max: number,
): Promise<{ arrived: Arrived; held: Holding } | Fault> {
  const client = clientOf(req, parts.config)
  const { promise: read, resolve: end } = Promise.withResolvers<Arrived | Fault>()
  const length = Number(req.headers.get('content-length') ?? Number.POSITIVE_INFINITY)
  const size = Math.min(PIECE, length)
  const reading = parts.bodies.take(client, { size, giveWay: () => end(toFull('process')) })
  if (typeof reading === 'string') return toFull(reading)
  const timer = setTimeout(() => end(LATE), READ_MS)
  readPieces(parts, req, { max, client, isLong: length > LONG_BODY }, reading, end)
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

/**
 * Node's own stream: a web stream around it would double the cost of reading. The next chunk of a
 * long body is requested in its client's turn: sixty megabytes that arrived together would be read
 * in one turn of the event loop, while everybody else waits.
 */
function readPieces(
  { turns }: DoorBodies,
  { runtime }: DoorRequest,
  { max, client, isLong }: { max: number; client: string; isLong: boolean },
  reading: Holding,
  end: (read: Arrived | Fault) => void,
): void {
  const body = runtime?.node?.req
  if (body === undefined || body.destroyed) return void end(BROKEN)
  const measure = createJsonMeasure({ depth: MOST_NESTED, values: MOST_VALUES })
  let pieces: Buffer[] = []
  let size = 0
  const goOn = async () => {
    const turn = await turns.run(client, async () => void body.resume())
    if (turn === 'full') end(toFull('client'))
  }
  if (isLong) {
    body.pause()
    void goOn()
  }
  body.on('data', (piece: Buffer) => {
    size += piece.length
    if (size > max) return end(toTooLarge(max))
    // It is still read to its end: a sender that is cut off may never see why.
    if (!measure.add(piece)) pieces = []
    else {
      const full = reading.grow(piece.length)
      if (full !== null) return end(toFull(full))
      pieces.push(piece)
    }
    if (!isLong) return
    body.pause()
    void goOn()
  })
  body.once('end', () => end({ pieces, size, shape: measure.shape() }))
  body.once('close', () => end(BROKEN))
}

/** How many requests it counts as: each message of a batch, and long ones by their length. */
function costOf({ shape, size }: Arrived): number {
  return Math.min(MOST_REQUESTS, Math.max(1, shape.items, Math.ceil(size / BYTES_A_REQUEST)))
}

/** A long body is parsed in its client's turn: nobody is answered while a megabyte is parsed. */
async function parseInTurn(
  { turns, config }: DoorLimits & DoorBodies,
  req: DoorRequest,
  { pieces, size, shape }: Arrived,
): Promise<{ value: unknown } | Fault> {
  const fault = findShapeFault(shape)
  if (fault !== null) return fault
  if (size <= LONG_BODY) return parse(pieces)
  let message: { value: unknown } | Fault = toFull('process')
  await turns.run(clientOf(req, config), async () => {
    message = req.runtime?.node?.res?.destroyed === true ? BROKEN : parse(pieces)
  })
  return message
}

function findShapeFault({ depth, values }: JsonShape): Fault | null {
  if (depth > MOST_NESTED) return toFault(`A message may nest at most ${MOST_NESTED} deep.`)
  return values > MOST_VALUES ? toFault(`A message holds at most ${MOST_VALUES} values.`) : null
}

function parse(pieces: readonly Buffer[]): { value: unknown } | Fault {
  try {
    return { value: JSON.parse(Buffer.concat(pieces).toString('utf8')) }
  } catch {
    return toFault('The body is not JSON.', 400, -32700)
  }
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

/** Without a socket of ours there is nothing to wait for. */
function answerLeft({ runtime }: DoorRequest): Promise<unknown> {
  const res = runtime?.node?.res
  return res === undefined || res.destroyed
    ? Promise.resolve()
    : new Promise((resolve) => res.once('close', resolve))
}

function toFault(fault: string, status = 400, code = -32600): Fault {
  return { fault, status, code }
}

const LATE = toFault(`The message did not arrive within ${READ_MS / 1000} s.`, 408)
const BROKEN = toFault('The message broke off.')

function toTooLarge(max: number): Fault {
  return toFault(`A message holds at most ${max} bytes.`, 413)
}

function toLimited(taken: Record<string, string>): Fault {
  return toFault(`Too many requests; try again in ${taken['Retry-After']} s.`, 429, -32000)
}

function toFull(reached: Reached): Fault {
  const isOwn = reached !== 'process'
  const sentence = isOwn
    ? 'Too many bytes of messages are in flight for this client; try again when some are answered.'
    : 'Too many bytes of messages are in flight; try again.'
  return { ...toFault(sentence, isOwn ? 429 : 503, -32000), headers: { 'Retry-After': '1' } }
}
