import { readTaskOutput, type TaskOutput } from '../../../src/domain/tasks/task-output.ts'
import { parseJson } from '../../../src/domain/wire/parse-json.ts'

/** A longer answer is not read to its end: no contract allows as much. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024

/** Checks a seller's answer against the task's contract. Pictures and sounds become data URLs. */
export async function judgeAnswer(
  response: Response,
  contract: Record<string, unknown>,
  paths: Record<string, string>,
): Promise<TaskOutput> {
  const bytes = await readBounded(response)
  if (bytes === null) return { fault: `the answer is longer than ${MAX_ANSWER_BYTES} bytes` }
  if (bytes.length === 0) return { fault: 'the answer is empty' }
  const type = response.headers.get('content-type')?.split(';', 1)[0]?.trim() ?? ''
  return readTaskOutput(contract, paths, toValue(bytes, type))
}

function toValue(bytes: Uint8Array, type: string): unknown {
  if (/^(?:image|audio|video)\//.test(type) || type === 'application/octet-stream')
    return `data:${type};base64,${toBase64(bytes)}`
  const text = new TextDecoder().decode(bytes)
  return /\bjson$/.test(type) || /^\s*[[{]/.test(text) ? (parseJson(text) ?? text) : text
}

function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}

async function readBounded({ body }: Response): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = body?.getReader()
  for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
    length += read.value.length
    if (length > MAX_ANSWER_BYTES) {
      await reader?.cancel()
      return null
    }
    chunks.push(read.value)
  }
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
