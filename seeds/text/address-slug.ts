import { hash } from 'node:crypto'
import { MAX_ID_LENGTH } from '../../src/domain/listing/listing-id.ts'

const HASH_LENGTH = 8
/** Room for the longest prefix and its dot. */
const MAX_SLUG_LENGTH = MAX_ID_LENGTH - 'x402.'.length

/**
 * The slug of an address: a function of it alone, so that every import gives the same id. A host by
 * itself is its slug; with a path it ends in a hash of the whole address, which no host does.
 *
 * @example addressSlug('https://www.weather.example/') → 'weather.example'
 * @example addressSlug('https://hub.example/agent/7/tides') → 'hub.example.tides-1f0c3a7b'
 */
export function addressSlug(address: string): string {
  const url = URL.parse(address)
  const host = (url?.host ?? address).replace(/^www\./, '')
  const path = (url?.pathname ?? '').replace(/\/+$/, '')
  if (path === '' && isPlain(host)) return host
  const last = path.split('/').at(-1) ?? ''
  return withHash(last === '' ? host : `${host}.${last}`, `${host}${path}`)
}

function withHash(text: string, identity: string): string {
  const digest = hash('sha256', identity, 'hex').slice(0, HASH_LENGTH)
  const room = MAX_SLUG_LENGTH - HASH_LENGTH - 1
  return `${tidySlug(tidySlug(text).slice(0, room)) || 'listing'}-${digest}`
}

function isPlain(text: string): boolean {
  return (
    text.length <= MAX_SLUG_LENGTH &&
    /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/.test(text) &&
    !new RegExp(`-[0-9a-f]{${HASH_LENGTH}}$`).test(text)
  )
}

/** Lower case, one separator between words, none at the ends: what an id allows. */
export function tidySlug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/([._-])[._-]+/g, '$1')
    .replace(/^[._-]+|[._-]+$/g, '')
}
