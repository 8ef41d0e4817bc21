/** One thing wrong with the content: where it stands, what it is, what would be right. */
export interface Fault {
  /** Path from the content folder, with forward slashes. */
  file: string
  /** 1-based; null where the fault is the whole file's. */
  line: number | null
  /** Dotted path of the field, empty for the file itself. */
  field: string
  message: string
  severity: 'error' | 'warning'
}

/** An error of a whole file, unless `about` says more. */
export function faultOf(file: string, message: string, about: Partial<Fault> = {}): Fault {
  return { file, line: null, field: '', message, severity: 'error', ...about }
}

/**
 * @example formatFault({ file: 'listings/x402/foo.md', line: 7, field: 'pricing.min_usd', message: 'expected a number, got "free"', severity: 'error' }, 'content')
 *   → 'content/listings/x402/foo.md:7 pricing.min_usd: expected a number, got "free"'
 */
export function formatFault({ file, line, field, message, severity }: Fault, root: string): string {
  const place = `${root}/${file}${line === null ? '' : `:${line}`}`
  const subject = field === '' ? '' : ` ${field}`
  return toPrintable(`${place}${subject}: ${severity === 'warning' ? 'warning, ' : ''}${message}`)
}

/** File names and messages may hold foreign text; a terminal must not obey it. */
export function toPrintable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}
