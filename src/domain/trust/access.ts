import type { Evidence } from './evidence.ts'

type Seen = Pick<Evidence, 'sign_in'>

/** The latest of several reads of a server's metadata. */
export function newestSignIn(read: readonly Seen[]): Seen['sign_in'] {
  return read
    .flatMap(({ sign_in }) => (sign_in === undefined ? [] : [sign_in]))
    .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))[0]
}
