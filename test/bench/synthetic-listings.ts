import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { createDraws, type Draws } from '../support/random.ts'

/** How often a word is replaced by one drawn from all texts, and how often by one never seen. */
const REPLACED = 0.4
const COINED = 0.02
const SYLLABLES = 'ba ce di fo gu ka le mi no pru sta tro ven xi zor'.split(' ')
/** Most listings stand on a host that others share: a code host, a platform, a seller's domain. */
const SAME_HOST = 0.85

/**
 * Listings beyond the real ones with the same text statistics: each takes the shape (kind, lengths,
 * labels, price, filters) of a real listing; its words are partly kept, partly drawn from all real
 * texts by their frequency, and now and then coined, as new listings bring new words.
 */
export function* syntheticListings(
  real: readonly SearchDocument[],
  count: number,
): Generator<SearchDocument> {
  const random = createDraws(8004)
  const nameWords = real.flatMap(({ name }) => name.split(/\s+/))
  const summaryWords = real.flatMap(({ summary }) => summary.split(/\s+/))
  for (let at = 0; at < count; at += 1) {
    const shape = random.pick(real)
    const name = rewriteText(shape.name, nameWords, random)
    const id = `${shape.id.split('.')[0]}.${toSlug(name) || 'listing'}-s${at}`
    yield {
      ...shape,
      id,
      body: shape.body.replace(shape.id, id),
      name,
      summary: rewriteText(shape.summary, summaryWords, random),
      tags: shape.tags.map((tag) =>
        random.next() < REPLACED ? random.pick(random.pick(real).tags.concat(tag)) : tag,
      ),
      url:
        random.next() < SAME_HOST
          ? shape.url
          : `https://${toSlug(name).slice(0, 40) || 'x'}-s${at}.example/mcp`,
    }
  }
}

/** Operations beyond the real ones: each takes the shape of a real one, and its words as above. */
export function* syntheticOperations(
  real: readonly SearchDocument[],
  count: number,
): Generator<SearchDocument> {
  const random = createDraws(8005)
  const words = real.flatMap(({ texts }) =>
    Object.values(texts ?? {}).flatMap((field) => field.join(' ').split(/\s+/)),
  )
  const again = (field: readonly string[]) => field.map((text) => rewriteText(text, words, random))
  for (let at = 0; at < count; at += 1) {
    const { texts = { name: [], labels: [], summary: [] }, ...shape } = random.pick(real)
    const id = `api.synthetic-${at}~0`
    const body = `{"id":"${id}","operation":{"name":"${at}"}}`
    const { name, labels, summary } = texts
    const made = { name: again(name), labels: again(labels), summary: again(summary) }
    yield { ...shape, id, texts: made, body }
  }
}

/** The text with some of its words changed for others. */
function rewriteText(text: string, words: readonly string[], random: Draws): string {
  return text
    .split(/\s+/)
    .map((word) => {
      const chance = random.next()
      if (chance < COINED) return coin(random)
      return chance < REPLACED ? random.pick(words) : word
    })
    .join(' ')
}

function coin(random: Draws): string {
  return Array.from({ length: 3 + random.below(2) }, () => random.pick(SYLLABLES)).join('')
}

function toSlug(text: string): string {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return words.join('-').slice(0, 90).replace(/-$/, '')
}
