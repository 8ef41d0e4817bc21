import * as v from 'valibot'
import type { Auth } from '../listing/auth.ts'
import { createSignInSchema } from '../listing/auth.ts'
import type { UrlRules } from '../listing/target-url.ts'
import type { Evidence } from './evidence.ts'

type Seen = Pick<Evidence, 'sign_in'>

/** The latest of several reads of a server's metadata. */
export function newestSignIn(read: readonly Seen[]): Seen['sign_in'] {
  return read
    .flatMap(({ sign_in }) => (sign_in === undefined ? [] : [sign_in]))
    .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))[0]
}

/**
 * People's facts on the sign-in win, member by member; a server with metadata requires OAuth,
 * whether or not anybody recorded that. Another kind of access named by people stays as it is.
 */
export function withSeenSignIn(auth: Auth, { sign_in }: Seen, rules: UrlRules): Auth {
  if (sign_in === undefined || (auth.type !== 'oauth' && auth.type !== 'unknown')) return auth
  const { at: _at, ...seen } = sign_in
  const written = auth.type === 'oauth' ? auth.sign_in : undefined
  const joined = v.safeParse(createSignInSchema(rules), { ...seen, ...written })
  return joined.success ? { ...auth, type: 'oauth', sign_in: joined.output } : auth
}
