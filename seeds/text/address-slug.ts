import { hash } from 'node:crypto'
import { MAX_ID_LENGTH } from '../../src/domain/listing/listing-text.ts'

const HASH_LENGTH = 8
/** Room for the longest prefix and its dot. */
const MAX_SLUG_LENGTH = MAX_ID_LENGTH - 'x402.'.length

/**
 * The slug of an address: it depends on nothing else, so that every import gives the same id. A
 * host by itself is its slug; with a path it ends in a hash of the whole address, unlike a host.
 *
 * @example addressSlug('https://www.weather.example/') → 'weather.example'
 * @example addressSlug('https://hub.example/agent/7/tides') → 'hub.example.tides-1f0c3a7b'
 */
export function addressSlug(address: string): string {
  const url = URL.parse(address)
  const host = (url?.host ?? address).replace(/^www\./, '')
  const path = (url?.pathname ?? '').replace(/\/+$/, '')
  const last = path.split('/').at(-1) ?? ''
  return toSlug(last === '' ? host : `${host}.${last}`, `${host}${path}`, {
    room: MAX_SLUG_LENGTH,
    nameless: 'listing',
    isPlain: path === '' && /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/.test(host),
  })
}

/**
 * A readable text as a slug, with a hash of the whole identity where the text is not the whole
 * identity, is too long, or ends like a hash.
 */
export function toSlug(
  text: string,
  identity: string,
  { room, isPlain, nameless }: { room: number; isPlain: boolean; nameless: string },
): string {
  const slug = tidySlug(text)
  const looksHashed = new RegExp(`-[0-9a-f]{${HASH_LENGTH}}$`).test(identity)
  if (isPlain && !looksHashed && slug.length <= room) return slug
  const digest = hash('sha256', identity, 'hex').slice(0, HASH_LENGTH)
  return `${tidySlug(slug.slice(0, room - HASH_LENGTH - 1)) || nameless}-${digest}`
}

/** Lower case, one separator between words, none at the ends: what an id allows. */
function tidySlug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/([._-])[._-]+/g, '$1')
    .replace(/^[._-]+|[._-]+$/g, '')
}
