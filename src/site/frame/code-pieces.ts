/** A piece of a sentence; what stood between backticks is code. */
export interface CodePiece {
  text: string
  isCode: boolean
}

/**
 * Our tables and schemas write code in sentences as Markdown does; pages print it as code. A backtick
 * without its partner stays what it is.
 *
 * @example toCodePieces('See `detail`.') →
 *   [{ text: 'See ', isCode: false }, { text: 'detail', isCode: true }, { text: '.', isCode: false }]
 */
export function toCodePieces(sentence: string): CodePiece[] {
  return sentence
    .split(/(`[^`]+`)/)
    .filter((piece) => piece !== '')
    .map((piece) =>
      /^`[^`]+`$/.test(piece)
        ? { text: piece.slice(1, -1), isCode: true }
        : { text: piece, isCode: false },
    )
}
