/** A JSON-RPC or JSON body as a door reads it, or why it cannot: status and JSON-RPC code of the refusal. */
export type DoorBody = { json: unknown } | { fault: string; status: number; code: number }

/** What walks a value by calling itself would run out of stack far beyond this. */
const MOST_NESTED = 200

/** Reads a JSON body of at most `max` bytes; nothing beyond that is held. */
export async function readDoorBody(req: Request, max: number): Promise<DoorBody> {
  const type = req.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json')
    return { fault: 'Send the message as application/json.', status: 415, code: -32600 }
  const text = await readAtMost(req, max)
  if (text === null)
    return { fault: `A message holds at most ${max} bytes.`, status: 413, code: -32600 }
  if (isDeeperThan(MOST_NESTED, text))
    return { fault: `A message is nested ${MOST_NESTED} deep at most.`, status: 400, code: -32600 }
  try {
    return { json: JSON.parse(text) }
  } catch {
    return { fault: 'The body is not JSON.', status: 400, code: -32700 }
  }
}

async function readAtMost(req: Request, max: number): Promise<string | null> {
  if (Number(req.headers.get('content-length') ?? 0) > max) return null
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of req.body ?? []) {
    size += chunk.length
    if (size > max) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Counted on the text: brackets inside of strings are none. */
function isDeeperThan(most: number, text: string): boolean {
  let depth = 0
  let isText = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (isText && character === '\\') at += 1
    else if (character === '"') isText = !isText
    else if (!isText && (character === '[' || character === '{')) depth += 1
    else if (!isText && (character === ']' || character === '}')) depth -= 1
    if (depth > most) return true
  }
  return false
}
