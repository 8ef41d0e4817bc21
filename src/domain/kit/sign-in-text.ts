import { grantsOf, type Registration, registrationOf, type SignIn } from '../listing/auth.ts'
import { toShownHost } from '../listing/shown-host.ts'

const GRANT_WORDS: Readonly<Record<string, string>> = {
  authorization_code: 'an authorization code',
  refresh_token: 'a refresh token',
  client_credentials: 'client credentials',
  implicit: 'the implicit grant',
  'urn:ietf:params:oauth:grant-type:device_code': 'a device code',
  'urn:ietf:params:oauth:grant-type:token-exchange': 'a token exchange',
  'urn:ietf:params:oauth:grant-type:jwt-bearer': 'a signed assertion',
}

const REGISTRATION_WORDS: Readonly<Record<Registration, string>> = {
  metadata_document: 'A new client names itself by the address of its own metadata.',
  dynamic: 'A new client registers itself.',
  by_hand: 'A new client is registered with the seller by hand first.',
  unknown: 'How a new client registers is not known.',
}

const OR_LIST = new Intl.ListFormat('en-GB', { type: 'disjunction' })

/** Where a person signs in: the server's page for it, or the server where that is unknown. */
export function signInUrlOf({ authorization_endpoint, authorization_server }: SignIn): string {
  return authorization_endpoint ?? authorization_server
}

/**
 * @example toSignInText({ authorization_server: 'https://id.example', … }) →
 * 'Sign in at id.example, by an authorization code or a refresh token, with PKCE. A new client registers itself.'
 */
export function toSignInText(signIn: SignIn): string {
  const grants = grantsOf(signIn).map((grant) => GRANT_WORDS[grant] ?? grant)
  const by = grants.length === 0 ? '' : `, by ${OR_LIST.format(grants)}`
  const { code_challenge_methods_supported: methods = [] } = signIn
  const proof = methods.includes('S256') ? ', with PKCE' : ''
  const host = toShownHost(new URL(signInUrlOf(signIn)).host)
  return `Sign in at ${host}${by}${proof}. ${REGISTRATION_WORDS[registrationOf(signIn)]}`
}
