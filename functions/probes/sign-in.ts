import * as v from 'valibot'
import {
  createSignInSchema,
  MAX_NAMED,
  NamedSchema,
  type SignIn,
} from '../../src/domain/listing/invoke.ts'
import { isWithin } from '../../src/domain/listing/json-schema.ts'
import { findUrlFault, type UrlRules } from '../../src/domain/listing/target-url.ts'
import { type ProbeAnswer, parseChallenges } from '../../src/domain/probe/finding.ts'
import { isJsonObject, parseJson, present } from '../../src/domain/wire/json.ts'

interface Protected {
  /** The address that requires a token. */
  url: string
  /** The metadata address given in the server's refusal; null if missing. */
  named: string | null
  /** Reads an address by one guarded, bounded GET: the text of a 200, null for any other answer. */
  read: (url: string) => Promise<string | null>
}

/**
 * Where to sign in for a resource, according to its own metadata (RFC 9728) and that of its first authorization
 * server (RFC 8414): at most two addresses are read for the resource and three for its server, one at a time.
 * @returns null if the resource publishes no metadata, or only another resource's metadata
 */
export async function readSignIn({ url, named, read }: Protected): Promise<SignIn | null> {
  // Only a plain-HTTP server, on an operator's own machine, may name private addresses.
  const rules = { allowPrivate: new URL(url).protocol === 'http:' }
  const places = named === null ? toResourceMetadataUrls(url) : toNamedPlace(named, url)
  const resource = await firstOf(places, read, (text) => readResourceMetadata(text, url, rules))
  const [issuer] = resource?.authorization_servers ?? []
  if (resource === null || issuer === undefined) return null
  const server = await firstOf(toServerMetadataUrls(issuer), read, (text) =>
    readServerMetadata(text, issuer, rules),
  )
  return toSignIn(resource, server ?? {}, rules)
}

/** Contrary to the RFC, many servers name the metadata without its origin. */
function toNamedPlace(named: string, url: string): string[] {
  const place = URL.parse(named, url)
  const isWeb = place?.protocol === 'https:' || place?.protocol === new URL(url).protocol
  return place === null || !isWeb ? [] : [place.href]
}

/** Reads the addresses one after another until an answer is usable. */
async function firstOf<Read>(
  places: readonly string[],
  read: Protected['read'],
  parse: (text: string) => Read | null,
): Promise<Read | null> {
  for (const place of places) {
    const text = await read(place)
    const parsed = text === null ? null : parse(text)
    if (parsed !== null) return parsed
  }
  return null
}

const MAX_HEADER_LENGTH = 16 * 1024
const BOUNDS = { depth: 8, nodes: 4000, characters: 64 * 1024 }
const MAX_SERVERS = 3

/** RFC 9728 §5.1: the address of the resource's metadata, as given in a refusal, or null. */
export function readNamedMetadata({ headers }: Pick<ProbeAnswer, 'headers'>): string | null {
  const lines = headers.get('www-authenticate') ?? []
  const named = lines
    .flatMap((line) => parseChallenges(line.slice(0, MAX_HEADER_LENGTH)))
    .flatMap(({ parameters }) => parameters.get('resource_metadata') ?? [])
  return named[0] ?? null
}

/** RFC 9728 §3.1: the well-known part between host and path; then, as in MCP, at the host's root. */
export function toResourceMetadataUrls(resource: string): string[] {
  const { origin, pathname, search } = new URL(resource)
  const known = `${origin}/.well-known/oauth-protected-resource`
  const path = pathname === '/' ? '' : pathname
  return [...new Set([`${known}${path}${search}`, known])]
}

/** RFC 8414 §3.1, and the OpenID Connect paths that it names for old servers. */
export function toServerMetadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  return [
    ...new Set([
      `${origin}/.well-known/oauth-authorization-server${path}`,
      `${origin}/.well-known/openid-configuration${path}`,
      `${origin}${path}/.well-known/openid-configuration`,
    ]),
  ]
}

interface ResourceMetadata {
  resource: string
  authorization_servers: string[]
  scopes_supported?: string[]
}

/**
 * RFC 9728 §3.3: another resource's metadata is not used. As in MCP clients, metadata for the whole
 * origin, or for a path above the address, also applies to the address.
 * @param requested the address that was called
 */
export function readResourceMetadata(
  text: string,
  requested: string,
  rules: UrlRules,
): ResourceMetadata | null {
  const metadata = parseBounded(text)
  if (metadata === null || typeof metadata.resource !== 'string') return null
  if (!isFor(metadata.resource, requested)) return null
  const servers = Array.isArray(metadata.authorization_servers)
    ? metadata.authorization_servers
    : []
  const usable = servers.filter((each) => isUsable(each, rules)).slice(0, MAX_SERVERS)
  const scopes = toNames(metadata.scopes_supported)
  return {
    resource: metadata.resource,
    authorization_servers: usable,
    ...present({ scopes_supported: scopes }),
  }
}

/** RFC 8414 §3.3: another issuer's metadata is not used. */
export function readServerMetadata(
  text: string,
  issuer: string,
  rules: UrlRules,
): Partial<SignIn> | null {
  const metadata = parseBounded(text)
  if (metadata === null || typeof metadata.issuer !== 'string') return null
  if (!isSameAddress(metadata.issuer, issuer)) return null
  const { client_id_metadata_document_supported: byDocument } = metadata
  return present({
    ...Object.fromEntries(
      ENDPOINTS.flatMap((name) => {
        const url = metadata[name]
        return isUsable(url, rules) ? [[name, url]] : []
      }),
    ),
    client_id_metadata_document_supported: typeof byDocument === 'boolean' ? byDocument : undefined,
    grant_types_supported: toNames(metadata.grant_types_supported),
    code_challenge_methods_supported: toNames(metadata.code_challenge_methods_supported),
  })
}

const ENDPOINTS = [
  'authorization_endpoint',
  'token_endpoint',
  'device_authorization_endpoint',
  'registration_endpoint',
] as const

/** The metadata of resource and server as one fact; null if it exceeds our own limits. */
function toSignIn(
  { resource, authorization_servers, scopes_supported }: ResourceMetadata,
  server: Partial<SignIn>,
  rules: UrlRules,
): SignIn | null {
  const [authorization_server] = authorization_servers
  const whole = { resource, authorization_server, ...server, ...present({ scopes_supported }) }
  const parsed = v.safeParse(createSignInSchema(rules), whole)
  return parsed.success ? parsed.output : null
}

function parseBounded(text: string): Record<string, unknown> | null {
  if (text.length > BOUNDS.characters * 2) return null
  const value = parseJson(text)
  return isJsonObject(value) && isWithin(value, BOUNDS) ? value : null
}

function isUsable(value: unknown, rules: UrlRules): value is string {
  return typeof value === 'string' && findUrlFault(value, rules) === null
}

/** Malformed words are dropped; an empty list is omitted. */
function toNames(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined
  const names = value.filter((each) => v.is(NamedSchema, each))
  return names.length === 0 ? undefined : [...new Set(names)].slice(0, MAX_NAMED)
}

function isFor(resource: string, requested: string): boolean {
  const [its, called] = [URL.parse(resource), URL.parse(requested)]
  if (its === null || called === null || its.origin !== called.origin) return false
  const above = its.pathname.endsWith('/') ? its.pathname : `${its.pathname}/`
  return `${called.pathname}/`.startsWith(above)
}

/** An empty path and `/` are the same (RFC 3986 §6.2.3). */
function isSameAddress(left: string, right: string): boolean {
  const href = URL.parse(left)?.href
  return href !== undefined && href === URL.parse(right)?.href
}
