import { createHash } from 'node:crypto'
import { MAX_ID_LENGTH } from '../../../src/domain/listing/listing-id.ts'

const MAX_SLUG_LENGTH = MAX_ID_LENGTH - 'mcp.'.length
const HASH_LENGTH = 8

/**
 * The slug of a registry name: a function of the name alone, so that every import, on any machine
 * and in any order, gives the same id.
 *
 * Collision-free by its form. A plain name (`namespace/server`, single separators, no capital and no
 * dot in the server's part) only has its slash turned into a dot, which can be undone: the last dot
 * was the slash. Every other name carries a hash of the whole name, and no plain name ends like a
 * hash. The case of a namespace doesn't count: it is a domain or an account name, where case never
 * told two owners apart.
 *
 * @example registrySlug('io.github.user/weather') → 'io.github.user.weather'
 * @example registrySlug('io.github.user/Weather_API') → 'io.github.user.weather_api-e6edc801'
 */
export function registrySlug(name: string): string {
  const [namespace = '', server = ''] = name.split('/')
  const slug = tidy(`${namespace}.${server}`)
  const canonical = `${namespace.toLowerCase()}/${server}`
  if (isPlain(canonical) && slug.length <= MAX_SLUG_LENGTH) return slug
  const hash = createHash('sha256').update(canonical).digest('hex').slice(0, HASH_LENGTH)
  return `${tidy(slug.slice(0, MAX_SLUG_LENGTH - HASH_LENGTH - 1)) || 'server'}-${hash}`
}

function isPlain(canonical: string): boolean {
  const looksHashed = new RegExp(`-[0-9a-f]{${HASH_LENGTH}}$`).test(canonical)
  return (
    !looksHashed && /^[a-z0-9]+(?:[.-][a-z0-9]+)*\/[a-z0-9]+(?:[_-][a-z0-9]+)*$/.test(canonical)
  )
}

/** Lower case, one separator between words, none at the ends: what an id allows. */
function tidy(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/([._-])[._-]+/g, '$1')
    .replace(/^[._-]+|[._-]+$/g, '')
}
