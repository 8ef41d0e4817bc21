/** A piece of a sentence; an address in it is a link. */
export interface TextPiece {
  text: string
  href: string | null
}

/** The mark that ends a sentence or a bracket does not belong to the address before it. */
const ADDRESS = /https?:\/\/[^\s"'<>]*[^\s"'<>.,;:!?)]/g

/**
 * Addresses in a sentence of ours, for people to follow. Not for what a stranger wrote: that is shown
 * as it is.
 *
 * @example toTextPieces('See https://a.example/x.') →
 *   [{ text: 'See ', href: null }, { text: 'https://a.example/x', href: 'https://a.example/x' }, { text: '.', href: null }]
 */
export function toTextPieces(sentence: string): TextPiece[] {
  const pieces: TextPiece[] = []
  let end = 0
  for (const match of sentence.matchAll(ADDRESS)) {
    pieces.push({ text: sentence.slice(end, match.index), href: null })
    pieces.push({ text: match[0], href: match[0] })
    end = match.index + match[0].length
  }
  pieces.push({ text: sentence.slice(end), href: null })
  return pieces.filter(({ text }) => text !== '')
}
