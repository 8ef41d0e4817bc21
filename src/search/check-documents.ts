import { isListingId } from '../domain/listing/listing-id.ts'
import { BODY_START } from './index-rows.ts'
import type { SearchDocument } from './search-document.ts'

const LINKS_START = ',"links":'
const decoder = new TextDecoder()

/** @throws Error naming the listing when an id comes twice or a body cannot be completed */
export function checkDocuments(documents: readonly SearchDocument[]): void {
  const seen = new Set<string>()
  for (const { id, body } of documents) {
    if (!isListingId(id)) throw new Error(`${id}: expected a listing id such as x402.example`)
    if (seen.has(id)) throw new Error(`${id} comes twice: every listing has an id of its own`)
    seen.add(id)
    const text = decoder.decode(body)
    if (text.startsWith(`${BODY_START}${id}"`) && endsWithLinks(text)) continue
    throw new Error(
      `${id}: the body's first member must be the id, and its last a filled \`links\` object, so that a response can complete it; got the members ${Object.keys(JSON.parse(text)).join(', ')}`,
    )
  }
}

/**
 * Parsing a million bodies takes longer than indexing their words, and they were written by
 * `JSON.stringify`: only the end is parsed. A quotation mark inside a string is escaped, so what
 * is found here is a member, and what follows an object that is closed right before the body is.
 */
function endsWithLinks(text: string): boolean {
  const start = text.lastIndexOf(LINKS_START)
  if (start < 0 || !text.endsWith('"}}')) return false
  try {
    const links: unknown = JSON.parse(text.slice(start + LINKS_START.length, -1))
    return typeof links === 'object'
  } catch {
    return false
  }
}
