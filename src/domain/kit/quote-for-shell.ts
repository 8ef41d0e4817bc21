import { encodeBody } from '../operation/example-request.ts'

/**
 * Separate from the snippets, whose texts would otherwise be bundled wherever a word is quoted.
 * Single quotes protect everything but themselves.
 */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Words of a command; plain ones stay as they are. */
export function toShellWords(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoteForShell(word))).join(' ')
}

/** Without -g brackets and braces of a URL are patterns; --data-raw reads no file for an @. */
export function toCurlOptions({ method, url, headers = {}, body }: Sent): string {
  return [
    `-g -X ${method}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoteForShell(`${name}: ${value}`)}`),
    ...(body === undefined
      ? []
      : [
          `--data-raw ${quoteForShell(encodeBody(headers['Content-Type'] ?? 'application/json', body))}`,
        ]),
    quoteForShell(url),
  ].join(' ')
}

interface Sent {
  method: string
  url: string
  headers?: Readonly<Record<string, string>> | undefined
  body?: unknown
}
