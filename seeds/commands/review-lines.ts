import type { ReviewItem } from '../content/review-item.ts'
import { toPrintable } from '../text/plain-text.ts'

/** Of one line of an item: everything it holds may be foreign text. */
const LONG = 4000

/** @example '3f2a9c01b7de  2026-11-20  mcp-registry  mcp.com.example.foo  suspicious_text' */
export function toListLine({ id, at, from, listing, why }: ReviewItem): string {
  return [id, at.slice(0, 10), from, listing, why].map((part) => toPrintable(part)).join('  ')
}

/** @param more what else the person who decides should know */
export function toShowLines(item: ReviewItem, more: readonly string[]): string[] {
  const { id, at, why, from, listing, note, file } = item
  return [
    `${id}: ${why}, asked by ${from} on ${at.slice(0, 10)}`,
    `listing: ${listing}`,
    `note:    ${note}`,
    ...more,
    ...(file === undefined ? [] : ['', file.path, ...indent(file.text)]),
  ].map((line) => toPrintable(line, LONG))
}

function indent(text: string): string[] {
  return text.split(/\r?\n/).map((line) => `  ${line}`)
}
