import { gatherSeeds, refuse } from '../../facts/map-rows.ts'
import type { SeedSource } from '../../facts/seed-source.ts'
import { followAddresses, ReadDocument } from '../../fetch/follow-addresses.ts'
import { mapCard, parseAgentCard } from './map-agent.ts'

/** A2A agents, from a registry's list, from cards, or from the addresses of cards. */
export const a2a: SeedSource = {
  id: 'a2a',
  title: 'A2A agents, by their cards (0.3 and 1.0)',
  liveUrl: 'https://a2aregistry.org/api/agents?limit=100',
  promisesAll: false,
  shape: {
    lists: ['agents', 'cards'],
    expected: 'an agent card, a list of cards or of their addresses',
    isRow: (value) => typeof value.name === 'string',
    takesAddresses: true,
  },
  follow: (values, reader) => followAddresses(values, reader),
  choose(values, rules) {
    const mapped = values.map((value) => {
      const fetched = value instanceof ReadDocument ? value : null
      const parsed = parseAgentCard(fetched === null ? value : fetched.document)
      if (!('row' in parsed))
        return fetched === null ? parsed : refuse(fetched.place ?? '', parsed.refusal)
      const { row: card } = parsed
      return fetched === null
        ? mapCard(card, rules, false)
        : mapCard({ ...card, cardUrl: fetched.place }, rules, true)
    })
    return gatherSeeds(mapped)
  },
}
