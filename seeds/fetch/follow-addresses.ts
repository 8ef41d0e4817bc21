import { parseJson } from '../../src/domain/wire/parse-json.ts'
import type { Refusal } from '../facts/refusal.ts'
import type { SellerReader } from '../facts/seed-source.ts'

/** UTF-16 units of all documents of a run together: a list may name as many as it likes. */
const MAX_LENGTH = 32 * 1024 * 1024

/**
 * A document, and where it was read; documents of one place belong together. A class, since a
 * stranger's row could have the same members.
 */
export class ReadDocument {
  readonly place: string | null
  readonly document: unknown
  constructor(place: string | null, document: unknown) {
    this.place = place
    this.document = document
  }
}

/**
 * Rows that are addresses are replaced by their documents; other rows stay as they are.
 *
 * @param neighboursOf addresses of documents that may be next to one; missing ones do no harm
 */
export async function followAddresses(
  values: readonly unknown[],
  reader: SellerReader,
  neighboursOf: (document: unknown) => readonly string[] = () => [],
): Promise<{ values: unknown[]; refused: Refusal[] }> {
  const refused: Refusal[] = []
  let length = 0
  const followed = await reader.each(values, async (value): Promise<unknown[]> => {
    if (typeof value !== 'string') return [value]
    const answer = await read(value)
    if (!answer.ok) {
      refused.push({ reason: 'unreadable_seller', name: value, detail: answer.detail })
      return []
    }
    const documents = [parseJson(answer.text)]
    for (const address of neighboursOf(documents[0])) {
      const other = await read(address)
      if (other.ok) documents.push(parseJson(other.text))
    }
    return documents.map((document) => new ReadDocument(value, document))
  })
  return { values: followed.flat(), refused }

  async function read(address: string) {
    if (length > MAX_LENGTH) return { ok: false, detail: 'expected fewer documents' } as const
    const answer = await reader.read(address)
    if (answer.ok) length += answer.text.length
    return answer
  }
}
