import type { SignIn } from '../../src/domain/listing/invoke.ts'
import {
  readResourceMetadata,
  readServerMetadata,
  toResourceMetadataUrls,
  toServerMetadataUrls,
  toSignIn,
} from '../../src/domain/probe/oauth.ts'

interface Protected {
  /** The address that requires a token. */
  url: string
  /** The metadata address from its refusal; null if missing. */
  named: string | null
  /** One GET: the text of a 200, null for anything else. Guarded and bounded. */
  read: (url: string) => Promise<string | null>
}

/**
 * Where to sign in for a resource, by its own metadata (RFC 9728) and its first authorization server's
 * (RFC 8414): at most two addresses are read for the one and three for the other, one at a time.
 *
 * @returns null where the resource publishes no metadata, or metadata of another resource
 */
export async function readSignIn({ url, named, read }: Protected): Promise<SignIn | null> {
  // Only a plain-HTTP server, on an operator's own machine, may name such addresses.
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

/** A refusal may name it without its origin, contrary to the RFC: many servers do. */
function toNamedPlace(named: string, url: string): string[] {
  const place = URL.parse(named, url)
  const isWeb = place?.protocol === 'https:' || place?.protocol === new URL(url).protocol
  return place === null || !isWeb ? [] : [place.href]
}

/** Asks one after the other until an answer is usable. */
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
