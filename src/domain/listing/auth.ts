import * as v from 'valibot'
import { AUTH_TYPES } from '../wire/vocabulary.ts'
import { EndpointTextSchema } from './listing-text.ts'
import { createSignInSchema } from './sign-in.ts'
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
