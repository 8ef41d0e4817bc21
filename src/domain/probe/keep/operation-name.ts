import { toInertLine } from '../read/inert-text.ts'

const MAX_PATH_LENGTH = 60

/**
 * An operation as a sentence names it.
 *
 * @example toOperationName({ method: 'GET', url: 'https://x.example/users/{id}' }) → 'GET /users/{id}'
 */
export function toOperationName({ method, url }: { method: string; url: string }): string {
  const path = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '')
  return `${method} ${toInertLine(path === '' ? '/' : path, MAX_PATH_LENGTH)}`
}
