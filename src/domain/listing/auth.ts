import * as v from 'valibot'
import { listOf, textLike } from '../wire/shapes.ts'
import { AUTH_TYPES } from '../wire/vocabulary.ts'
import { EndpointTextSchema } from './listing-text.ts'
import { type UrlRules, urlSchema } from './target-url.ts'

/** Valid names of a header (RFC 9110 token) and of a query parameter. */
export const FIELD_NAME = /^[\w!#$%&'*+.^`|~[\]-]{1,100}$/

const KEY_PLACES = ['header', 'query'] as const
const OTHER_TYPES = AUTH_TYPES.filter((type) => type !== 'api_key' && type !== 'oauth')

/** What a caller must have before the first call, and where it goes. */
export function createAuthSchema(rules: UrlRules) {
  const about = {
    docs: v.optional(urlSchema(rules)),
    note: v.optional(EndpointTextSchema),
  }
  const expected = `expected type ${AUTH_TYPES.join(', ')}`
  return v.variant(
    'type',
    [
      v.pipe(
        v.strictObject({
          type: v.literal('api_key'),
          in: v.optional(v.picklist(KEY_PLACES, 'expected header or query')),
          name: v.optional(
            v.pipe(v.string(), v.regex(FIELD_NAME, 'expected a header or query name')),
          ),
          ...about,
        }),
        v.check(
          (auth) => (auth.in === undefined) === (auth.name === undefined),
          'expected both in and name, or neither',
        ),
      ),
      v.strictObject({
        type: v.literal('oauth'),
        sign_in: v.optional(createSignInSchema(rules)),
        ...about,
      }),
      v.strictObject({ type: v.picklist(OTHER_TYPES, expected), ...about }),
    ],
    expected,
  )
}

export type Auth = v.InferOutput<ReturnType<typeof createAuthSchema>>

/** Most scopes and grants; a server that names more is not recorded. */
export const MAX_NAMED = 50

/** A scope token of RFC 6749 §3.3, and a grant's name: both are printable and without spaces. */
export const NamedSchema = textLike(/^[!-~]{1,200}$/, 'expected one printable word')

/**
 * Where a caller of an OAuth-protected resource signs in, in the words of RFC 9728 (the resource) and
 * RFC 8414 (its authorization server). Written by people from a vendor's documents, or read by machines
 * from the seller's own metadata.
 */
export function createSignInSchema(rules: UrlRules) {
  const url = urlSchema(rules)
  return v.strictObject({
    /** The audience of a token: the `resource` parameter of RFC 8707. */
    resource: v.optional(url),
    authorization_server: url,
    authorization_endpoint: v.optional(url),
    token_endpoint: v.optional(url),
    device_authorization_endpoint: v.optional(url),
    /** Dynamic registration of RFC 7591. */
    registration_endpoint: v.optional(url),
    /** A client may use the address of its own metadata as its id, without registering. */
    client_id_metadata_document_supported: v.optional(v.boolean()),
    grant_types_supported: v.optional(listOf(NamedSchema, MAX_NAMED)),
    code_challenge_methods_supported: v.optional(listOf(NamedSchema, MAX_NAMED)),
    scopes_supported: v.optional(listOf(NamedSchema, MAX_NAMED)),
    /** Document that people read it from. */
    ref: v.optional(url),
  })
}

export type SignIn = v.InferOutput<ReturnType<typeof createSignInSchema>>

/** How a client unknown to the server gets an id. */
export type Registration = 'metadata_document' | 'dynamic' | 'by_hand' | 'unknown'

/** Only a server whose metadata was read is known to have no registration. */
export function registrationOf(signIn: SignIn): Registration {
  if (signIn.client_id_metadata_document_supported === true) return 'metadata_document'
  if (signIn.registration_endpoint !== undefined) return 'dynamic'
  return signIn.token_endpoint === undefined ? 'unknown' : 'by_hand'
}

/** RFC 8414 §2: the default for a server that names no grants. */
const DEFAULT_GRANTS = ['authorization_code', 'implicit']

export function grantsOf({ grant_types_supported, token_endpoint }: SignIn): readonly string[] {
  return grant_types_supported ?? (token_endpoint === undefined ? [] : DEFAULT_GRANTS)
}
