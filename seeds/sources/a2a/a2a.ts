import { isJsonObject, parseJson } from '../../../src/domain/wire/parse-json.ts'
import { gatherSeeds, refuse } from '../../facts/map-rows.ts'
import type { Refusal } from '../../facts/refusal.ts'
import type { SeedSource, SellerReader } from '../../facts/seed-source.ts'
import { nextByOffset, parseRows, type RowShape } from '../../fetch/parse-rows.ts'
import { CARD_SOURCE, mapCard, parseAgentCard, REGISTRY_SOURCE } from './agent-card.ts'

const SHAPE: RowShape = {
  lists: ['agents', 'cards'],
  expected: 'an agent card, a list of cards or of their addresses',
  isRow: (value) => typeof value.name === 'string',
}

/** Marks a card that was read at its own address. */
interface FetchedCard {
  card: unknown
  address: string
}

/** A2A agents, from a registry's list, from cards, or from the addresses of cards. */
export const a2a: SeedSource = {
  id: 'a2a',
  title: 'A2A agents, by their cards (0.3 and 1.0)',
  liveUrl: 'https://a2aregistry.org/api/agents?limit=100',
  promisesAll: false,
  sourceIds: [REGISTRY_SOURCE, CARD_SOURCE],
  parse(text, address) {
    const lines = text.split('\n').map((line) => line.trim())
    if (lines[0]?.startsWith('https://'))
      return { values: lines.filter((line) => line !== ''), refused: [], next: null }
    const { values, refused, page } = parseRows(text, SHAPE)
    return { values, refused, next: nextByOffset(address, page, values.length) }
  },
  follow,
  choose(values, rules) {
    const mapped = values.map((value) => {
      const fetched = isFetched(value) ? value : null
      const parsed = parseAgentCard(fetched === null ? value : fetched.card)
      if (!('card' in parsed))
        return fetched === null ? parsed : refuse(fetched.address, parsed.refusal)
      const { card } = parsed
      return fetched === null
        ? mapCard(card, rules, false)
        : mapCard({ ...card, cardUrl: fetched.address }, rules, true)
    })
    return gatherSeeds(mapped)
  },
}

const TOO_MANY = { ok: false, detail: 'expected fewer cards in one run' } as const

/** UTF-16 units of all cards together: a list may name as many as it likes. */
const MAX_CARDS_LENGTH = 32 * 1024 * 1024

/** Addresses become the cards that are there. */
async function follow(values: readonly unknown[], reader: SellerReader) {
  const refused: Refusal[] = []
  let length = 0
  const followed = await reader.each(values, async (value) => {
    if (typeof value !== 'string') return value
    const answer = length > MAX_CARDS_LENGTH ? TOO_MANY : await reader.read(value)
    if (!answer.ok) {
      refused.push({ reason: 'unreadable_seller', name: value, detail: answer.detail })
      return null
    }
    length += answer.text.length
    const card: FetchedCard = { card: parseJson(answer.text), address: value }
    return card
  })
  return { values: followed.filter((value) => value !== null), refused }
}

function isFetched(value: unknown): value is FetchedCard {
  return isJsonObject(value) && 'card' in value && typeof value.address === 'string'
}
