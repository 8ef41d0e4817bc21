import { createHash } from 'node:crypto'

/**
 * A cursor says where its page begins and carries a mark of the question it was given out for, so that
 * one that was made up, or comes from another question, is an error and not a first page. Nothing is
 * kept for it, and the mark is not secret: a forged one leads to a page that is free anyway.
 *
 * @example readPageToken(toPageToken('20', 'weather'), 'weather') → '20'
 */
export function toPageToken(start: string, question: string): string {
  const mark = createHash('sha256')
    .update(JSON.stringify([start, question]))
    .digest('base64url')
  return `${Buffer.from(start).toString('base64url')}.${mark.slice(0, 11)}`
}

/** @returns null for a token that was not given out for this question */
export function readPageToken(token: string, question: string): string | null {
  const [encoded = ''] = token.split('.')
  const start = Buffer.from(encoded, 'base64url').toString('utf8')
  return toPageToken(start, question) === token ? start : null
}
