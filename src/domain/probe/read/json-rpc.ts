import { isObject } from './bounded-json.ts'

/** The answer to one JSON-RPC request of ours. */
export type RpcReply =
  | { kind: 'result'; result: Record<string, unknown> }
  | { kind: 'error'; code: number; message: string; data: unknown }

/**
 * The answer with this id in a JSON text; null where it holds none. An error without an id counts:
 * servers answer so when they could not read the request.
 */
export function parseRpcReply(text: string, id: number): RpcReply | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  const message = Array.isArray(value)
    ? value.find((each) => isObject(each) && each.id === id)
    : value
  if (!isObject(message) || message.jsonrpc !== '2.0') return null
  const isOurs = message.id === id
  if (isOurs && isObject(message.result)) return { kind: 'result', result: message.result }
  const { error } = message
  if (!isObject(error) || typeof error.code !== 'number') return null
  if (!isOurs && message.id !== null && message.id !== undefined) return null
  return { kind: 'error', code: error.code, message: String(error.message), data: error.data }
}

export interface ServerSentEvent {
  event: string
  data: string
}

/**
 * Reads server-sent events piece by piece: each character is looked at once, however the seller
 * cuts its stream.
 *
 * @returns a reader that takes the next piece and gives the events it completed
 */
export function createEventReader(): (piece: string) => ServerSentEvent[] {
  let rest = ''
  let event = ''
  let data: string[] = []
  const readLine = (line: string): ServerSentEvent[] => {
    if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
    if (line.startsWith('event:')) event = line.slice(6).trim()
    if (line !== '') return []
    const whole = { event: event || 'message', data: data.join('\n') }
    const isEmpty = data.length === 0
    event = ''
    data = []
    return isEmpty ? [] : [whole]
  }
  return (piece) => {
    const [first = '', ...others] = piece.split('\n')
    const lines = [rest + first, ...others]
    rest = lines.pop() ?? ''
    return lines.flatMap((line) => readLine(line.endsWith('\r') ? line.slice(0, -1) : line))
  }
}

/** The answer with this id in a whole body, JSON or events. */
export function findRpcReply(body: string, mediaType: string, id: number): RpcReply | null {
  if (mediaType !== 'text/event-stream') return parseRpcReply(body, id)
  for (const { data } of createEventReader()(`${body}\n\n`)) {
    const reply = parseRpcReply(data, id)
    if (reply !== null) return reply
  }
  return null
}
