/**
 * Apart from the snippets, whose texts would otherwise come along wherever a word is quoted.
 * Single quotes keep everything but themselves.
 */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
