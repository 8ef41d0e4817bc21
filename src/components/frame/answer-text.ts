import { parseJson } from '../../domain/wire/json.ts'

/** The text of an answer; for a longer one its beginning, and the rest is not fetched. */
export async function readAnswerText(response: Response, maxBytes: number) {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let read = 0; reader !== undefined && read < maxBytes; ) {
    const { done, value } = await reader.read()
    if (done) return { text: text + decoder.decode(), isCut: false }
    read += value.length
    text += decoder.decode(value, { stream: true })
  }
  await reader?.cancel()
  return { text, isCut: reader !== undefined }
}

/** JSON is indented if that only changes spaces: a long number keeps every digit. */
export function toReadable(type: string, text: string): string {
  const json = type.includes('json') ? parseJson(text) : undefined
  if (json === undefined) return text
  const isSame = withoutSpaces(JSON.stringify(json)) === withoutSpaces(text)
  return isSame ? JSON.stringify(json, null, 2) : text
}

function withoutSpaces(text: string): string {
  return text.replace(/\s/g, '')
}
