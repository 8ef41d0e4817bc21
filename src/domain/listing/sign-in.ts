import * as v from 'valibot'
import { listOf, textLike } from '../wire/shapes.ts'
import { type UrlRules, urlSchema } from './target-url.ts'

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
    /** Issuer of the tokens. */
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
