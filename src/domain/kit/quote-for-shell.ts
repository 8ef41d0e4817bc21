/**
 * Separate from the snippets, whose texts would otherwise be bundled wherever a word is quoted.
 * Single quotes protect everything but themselves.
 */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
