/** An address, without the punctuation after it that ends a sentence or a bracket. */
const ADDRESS = /(https?:\/\/[^\s"'<>]*[^\s"'<>.,;:!?)])/

/** Pieces of a sentence: plain text, or text that leads to an address. */
interface LinkedPiece {
  text: string
  href?: string
}

/**
 * Splits one of our sentences into pieces, with its addresses as links; addresses on this site lose
 * their host.
 * @example splitAddresses('See https://a.example/x.', 'https://a.example')
 *   → [{ text: 'See ' }, { text: '/x', href: '/x' }, { text: '.' }]
 */
export function splitAddresses(sentence: string, baseUrl?: string): LinkedPiece[] {
  const pieces = sentence.split(ADDRESS).map((text, place) => {
    if (place % 2 === 0) return { text }
    if (baseUrl === undefined || !text.startsWith(`${baseUrl}/`)) return { text, href: text }
    const path = text.slice(baseUrl.length)
    return { text: path, href: path }
  })
  return pieces.filter(({ text }) => text !== '')
}
