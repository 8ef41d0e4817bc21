import * as v from 'valibot'
import { faultless, listOf, textLike } from '../wire/shapes.ts'
import {
  AUTH_TYPES,
  type Kind,
  PACKAGE_REGISTRIES,
  PACKAGE_TRANSPORTS,
  REMOTE_TRANSPORTS,
} from '../wire/vocabulary.ts'
import { EndpointTextSchema } from './listing-text.ts'
import { findUrlFault, MAX_URL_LENGTH, type UrlRules, urlSchema } from './target-url.ts'

/** Valid names of a header (RFC 9110 token) or of a query parameter. */
export const FIELD_NAME = /^[\w!#$%&'*+.^`|~[\]-]{1,100}$/

const KEY_PLACES = ['header', 'query'] as const
const OTHER_TYPES = AUTH_TYPES.filter((type) => type !== 'api_key' && type !== 'oauth')

/** What a caller must have before the first call, and where to send it. */
export function createAuthSchema(rules: UrlRules) {
  const about = {
    docs: v.optional(urlSchema(rules)),
    note: v.optional(EndpointTextSchema),
  }
  const expected = `expected type to be one of ${AUTH_TYPES.join(', ')}`
  return v.variant(
    'type',
    [
      v.pipe(
        v.strictObject({
          type: v.literal('api_key'),
          in: v.optional(v.picklist(KEY_PLACES, 'expected "header" or "query"')),
          name: v.optional(
            v.pipe(v.string(), v.regex(FIELD_NAME, 'expected a header or query name')),
          ),
          ...about,
        }),
        v.check(
          (auth) => (auth.in === undefined) === (auth.name === undefined),
          'expected both `in` and `name`, or neither',
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

/** How many scopes, or grants, are kept at most; if a server names more, none of them is kept. */
export const MAX_NAMED = 50

/** A scope token of RFC 6749 §3.3 or a grant's name: printable and without spaces. */
export const NamedSchema = textLike(/^[!-~]{1,200}$/, 'expected one printable word')

/**
 * Where a caller of an OAuth-protected resource signs in, in the words of RFC 9728 (the resource)
 * and RFC 8414 (its authorization server). Either a person took it from the vendor's documents, or
 * a machine read it from the seller's own metadata.
 */
export function createSignInSchema(rules: UrlRules) {
  const url = urlSchema(rules)
  return v.strictObject({
    /** The token's audience: the `resource` parameter in RFC 8707. */
    resource: v.optional(url),
    authorization_server: url,
    authorization_endpoint: v.optional(url),
    token_endpoint: v.optional(url),
    device_authorization_endpoint: v.optional(url),
    /** Dynamic registration as in RFC 7591. */
    registration_endpoint: v.optional(url),
    /** A client may use the address of its own metadata as its id, without registering. */
    client_id_metadata_document_supported: v.optional(v.boolean()),
    grant_types_supported: v.optional(listOf(NamedSchema, MAX_NAMED)),
    code_challenge_methods_supported: v.optional(listOf(NamedSchema, MAX_NAMED)),
    scopes_supported: v.optional(listOf(NamedSchema, MAX_NAMED)),
    /** The document from which a person took these facts. */
    ref: v.optional(url),
  })
}

export type SignIn = v.InferOutput<ReturnType<typeof createSignInSchema>>

export type PackageRegistry = (typeof PACKAGE_REGISTRIES)[number]

/** Identifiers are pasted into commands: no leading dash, no version, space or shell character. */
const IDENTIFIER_RULES: Record<
  Exclude<PackageRegistry, 'mcpb'>,
  { pattern: RegExp; maxLength: number; example: string }
> = {
  // Upper case survives only in old unscoped names; the registry accepts no new names with it.
  npm: {
    pattern: /^(?:@[a-z0-9~][a-z0-9._~-]*\/[a-z0-9~][a-z0-9._~-]*|[A-Za-z0-9~][A-Za-z0-9._~-]*)$/,
    maxLength: 214,
    example: '@scope/name',
  },
  pypi: {
    pattern: /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/,
    maxLength: 214,
    example: 'mcp-server-fetch',
  },
  // Host, port, path, tag and digest, as the OCI distribution specification writes references.
  oci: {
    pattern:
      /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?::\d{1,5}(?=\/))?(?:\/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/,
    maxLength: 500,
    example: 'ghcr.io/owner/image',
  },
  nuget: {
    pattern: /^[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?$/,
    maxLength: 100,
    example: 'Vendor.Server',
  },
}

/** Longest identifier in any registry: the URL of an `mcpb` archive. */
const MAX_IDENTIFIER_LENGTH = MAX_URL_LENGTH

/** spec: Invoke entry. A remote has a URL; a package has a registry and an identifier. */
export function createInvokeSchema(rules: UrlRules) {
  const remote = v.pipe(
    v.strictObject({
      kind: v.literal('mcp'),
      transport: v.picklist(REMOTE_TRANSPORTS, `expected ${REMOTE_TRANSPORTS.join(' or ')}`),
      /** The address, with `{name}` for each variable. */
      url: v.string('expected a URL'),
      variables: v.optional(listOf(VariableSchema, MAX_SETTINGS)),
      headers: v.optional(listOf(HeaderSchema, MAX_SETTINGS)),
    }),
    v.forward(
      faultless((entry) => findRemoteFault(entry, rules)),
      ['url'],
    ),
  )
  return v.variant('kind', [remote, PackageSchema], 'expected kind mcp or mcp_package')
}

const MAX_SETTINGS = 60
const MAX_CHOICES = 50

const setting = {
  description: v.optional(EndpointTextSchema),
  required: v.optional(v.boolean('expected true or false'), false),
  /** A secret's value is never shown. */
  secret: v.optional(v.boolean('expected true or false'), false),
  example: v.optional(EndpointTextSchema),
  /** The value that is used if the caller gives none. */
  default: v.optional(EndpointTextSchema),
  choices: v.optional(listOf(EndpointTextSchema, MAX_CHOICES)),
}

/** A part of a remote's address that its caller fills in, such as a tenant or a region. */
const VariableSchema = v.strictObject({
  name: textLike(/^[A-Za-z_][\w.-]{0,99}$/, 'expected the name of a variable, such as region'),
  ...setting,
})

const EnvSchema = v.strictObject({
  name: textLike(
    /^[A-Za-z_]\w{0,99}$/,
    'expected the name of an environment variable, such as API_KEY',
  ),
  ...setting,
})

const HeaderSchema = v.strictObject({
  name: textLike(FIELD_NAME, 'expected the name of a header'),
  ...setting,
})

export type Setting = v.InferOutput<typeof HeaderSchema>

const PackageSchema = v.pipe(
  v.strictObject({
    kind: v.literal('mcp_package'),
    transport: v.picklist(PACKAGE_TRANSPORTS, `expected one of ${PACKAGE_TRANSPORTS.join(', ')}`),
    registry: v.picklist(PACKAGE_REGISTRIES, `expected one of ${PACKAGE_REGISTRIES.join(', ')}`),
    identifier: v.pipe(v.string('expected text'), v.maxLength(MAX_IDENTIFIER_LENGTH)),
    env: v.optional(listOf(EnvSchema, MAX_SETTINGS)),
    /** Arguments for the server itself, after its name. */
    args: v.optional(listOf(EndpointTextSchema, MAX_SETTINGS)),
  }),
  // The error is in the identifier, but depends on the registry next to it.
  v.forward(
    faultless(({ registry, identifier }) => findIdentifierFault(registry, identifier)),
    ['identifier'],
  ),
)

export type InvokeEntry = v.InferOutput<ReturnType<typeof createInvokeSchema>>

/** An address with placeholders, whose variables have names and rules. */
interface Templated {
  url: string
  variables?: readonly Setting[] | undefined
}

const PLACE = /\{([\w.-]+)\}/g

/** @param toValue returns the value of a variable; undefined leaves its placeholder */
export function fillAddress(
  { url, variables = [] }: Templated,
  toValue: (variable: Setting) => string | undefined,
): string {
  const byName = new Map(variables.map((each) => [each.name, each]))
  return url.replace(PLACE, (place, name: string) => {
    const variable = byName.get(name)
    return (variable && toValue(variable)) ?? place
  })
}

/** The address with every variable at its default; null if a variable has none. */
export function defaultAddress(entry: Templated): string | null {
  const url = fillAddress(entry, (variable) => variable.default)
  return /[{}]/.test(url) ? null : url
}

/** Whether the caller names the whole host, with no default or choices from the seller. */
export function isCallersHost({ url, ...entry }: Templated): boolean {
  const [, name] = /^(?:https?:\/\/)?\{([\w.-]+)\}(?=[/:?#]|$)/.exec(url) ?? []
  const { default: fixed, choices = [] } = entry.variables?.find((each) => each.name === name) ?? {}
  return name !== undefined && fixed === undefined && choices.length === 0
}

/** A well-formed address for judging hosts, never for a call. */
export function sampleAddress(entry: Templated): string {
  const host = entry.url.startsWith('{') ? 'https://host.example' : 'host.example'
  const isHost = isCallersHost(entry)
  const [first] = placesOf(entry)
  return fillAddress(entry, ({ name, choices = [], ...variable }) => {
    const own = isHost && name === first ? host : 'x'
    return variable.default ?? choices[0] ?? own
  })
}

function placesOf({ url }: Templated): string[] {
  return [...url.matchAll(PLACE)].map(([, name = '']) => name)
}

function findRemoteFault(entry: Templated, rules: UrlRules): string | null {
  const places = placesOf(entry)
  const named = (entry.variables ?? []).map(({ name }) => name)
  const open = places.find((name) => !named.includes(name))
  if (open !== undefined)
    return `expected {${open}} to be declared in variables, as { name: ${open} }`
  const idle = named.find((name) => !places.includes(name))
  if (idle !== undefined) return `expected {${idle}} in url, because it is declared in variables`
  return findUrlFault(sampleAddress(entry), rules)
}

/** @returns what is wrong with a package identifier in this registry, or null */
export function findIdentifierFault(registry: PackageRegistry, identifier: string): string | null {
  if (registry === 'mcpb') {
    const fault = findUrlFault(identifier, { allowPrivate: false })
    return fault === null ? null : `${fault} (an mcpb identifier is the archive's URL)`
  }
  const { pattern, maxLength, example } = IDENTIFIER_RULES[registry]
  if (identifier.length > maxLength)
    return `expected at most ${maxLength} characters, got ${identifier.length}`
  return pattern.test(identifier)
    ? null
    : `expected a name in the ${registry} registry such as ${example}, got ${JSON.stringify(identifier)}`
}

/** Names of secrets, whether or not they are declared secret. */
const SECRET_NAME = /(?:^|[_-])(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD)$/i
const PLACEHOLDER = /<[^<>]+>|…$/
/** Values that are made for one person: an invented tenant, account, path or number. */
const SOMEBODYS =
  /\bexample\b|\byour?[_ -]|_HERE\b|x{4,}|\/path\/|[0-9a-f]{16,}|\d{6,}|\b(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d/i

/** What an agent would lack before its first call, or would copy unchanged so that the call fails. */
export function findInvokeGaps({ kind, auth, invoke = [] }: Reported) {
  if (kind !== 'mcp_server') return []
  const examples = invoke.flatMap((entry, i) => {
    const { headers, variables } = entry.kind === 'mcp' ? entry : {}
    const env = entry.kind === 'mcp_package' ? entry.env : undefined
    return Object.entries({ headers, variables, env }).flatMap(([place, settings = []]) =>
      settings.flatMap((setting, n) =>
        findExampleGap(setting).map((message) => ({
          path: ['invoke', i, place, n, 'example'],
          message,
        })),
      ),
    )
  })
  const bare = invoke.findIndex((entry) => !saysWhatToBring(entry, auth))
  return bare === -1
    ? examples
    : [
        ...examples,
        {
          path: ['invoke', bare],
          message: `auth is ${auth?.type}: expected the caller's credential in env, args or headers, a name in auth, or a sentence in auth.note`,
        },
      ]
}

interface Reported {
  kind?: Kind | undefined
  auth?: Auth | undefined
  invoke?: readonly InvokeEntry[] | undefined
}

const KEPT_BY_CALLER: readonly Auth['type'][] = ['api_key', 'bearer', 'oauth', 'other']

function saysWhatToBring(entry: InvokeEntry, auth: Auth | undefined): boolean {
  if (auth === undefined || !KEPT_BY_CALLER.includes(auth.type) || auth.note !== undefined)
    return true
  if (entry.kind === 'mcp_package')
    return (entry.env ?? []).length > 0 || (entry.args ?? []).length > 0
  // An OAuth client signs in by itself, and a bearer token always goes into `Authorization`.
  if (auth.type === 'oauth' || auth.type === 'bearer') return true
  return (entry.headers ?? []).length > 0 || (auth.type === 'api_key' && auth.name !== undefined)
}

/** What is wrong with a setting's example: it is a secret, or looks like somebody's own value. */
export function findExampleGap({ name, example, required, secret }: Setting): string[] {
  if (example === undefined || PLACEHOLDER.test(example)) return []
  if (secret || (required && SECRET_NAME.test(name)))
    return [`${name} is secret: expected no example or a placeholder such as <API_KEY>`]
  return required && SOMEBODYS.test(example)
    ? [
        `${name}: ${JSON.stringify(example)} looks like somebody's own value: expected no example or a placeholder such as <${name}>`,
      ]
    : []
}
