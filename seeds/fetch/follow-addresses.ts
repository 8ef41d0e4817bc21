import { isJsonObject, parseJson } from '../../src/domain/wire/parse-json.ts'
import type { Refusal } from '../facts/refusal.ts'
import type { SellerReader } from '../facts/seed-source.ts'

/** UTF-16 units of all documents of a run together: a list may name as many as it likes. */
const MAX_LENGTH = 32 * 1024 * 1024

/** A document that was read at its own address, and those beside it that are there. */
export interface ReadDocument {
  address: string
  document: unknown
  beside: unknown[]
}

/**
 * Rows that are addresses become the documents there; other rows stay as they are.
 *
 * @param neighboursOf addresses of documents that may lie beside one; one that is not there is no fault
 */
export async function followAddresses(
  values: readonly unknown[],
  reader: SellerReader,
  neighboursOf: (document: unknown) => readonly string[] = () => [],
): Promise<{ values: unknown[]; refused: Refusal[] }> {
  const refused: Refusal[] = []
  let length = 0
  const followed = await reader.each(values, async (value) => {
    if (typeof value !== 'string') return value
    const answer = await read(value)
    if (!answer.ok) {
      refused.push({ reason: 'unreadable_seller', name: value, detail: answer.detail })
      return null
    }
    const document = parseJson(answer.text)
    const beside: unknown[] = []
    for (const address of neighboursOf(document)) {
      const other = await read(address)
      if (other.ok) beside.push(parseJson(other.text))
    }
    const found: ReadDocument = { address: value, document, beside }
    return found
  })
  return { values: followed.filter((value) => value !== null), refused }

  async function read(address: string) {
    if (length > MAX_LENGTH) return { ok: false, detail: 'expected fewer documents' } as const
    const answer = await reader.read(address)
    if (answer.ok) length += answer.text.length
    return answer
  }
}

export function isReadDocument(value: unknown): value is ReadDocument {
  return isJsonObject(value) && Array.isArray(value.beside) && typeof value.address === 'string'
}

/** Addresses, one a line; null for a text that is something else. */
export function parseAddresses(text: string): string[] | null {
  const lines = text.split('\n').map((line) => line.trim())
  return lines[0]?.startsWith('https://') ? lines.filter((line) => line !== '') : null
}
