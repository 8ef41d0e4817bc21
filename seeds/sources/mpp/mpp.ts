import { gatherSeeds } from '../../facts/gather-seeds.ts'
import type { Refusal } from '../../facts/refusal.ts'
import type { SeedSource } from '../../facts/seed-source.ts'
import { parseRows, type RowShape } from '../../fetch/parse-rows.ts'
import { MPP_SOURCE, mapService } from './map-service.ts'
import { parseMppService } from './mpp-row.ts'

const SHAPE: RowShape = {
  lists: ['services'],
  expected: 'a list of MPP services',
  isRow: (value) => typeof value.serviceUrl === 'string',
}

/** The MPP services directory: one answer, everything in it. */
export const mpp: SeedSource = {
  id: 'mpp',
  title: 'services of the MPP directory with their priced endpoints',
  liveUrl: 'https://mpp.dev/api/services',
  promisesAll: true,
  sourceIds: [MPP_SOURCE],
  parse(text) {
    const { values, refused } = parseRows(text, SHAPE)
    return { values, refused, next: null }
  },
  choose(values, rules) {
    const refused: Refusal[] = []
    const mapped = values.flatMap((value) => {
      const parsed = parseMppService(value)
      if (parsed.ok) return [mapService(parsed.service, rules)]
      refused.push({ reason: 'invalid_row', name: parsed.name, detail: parsed.detail })
      return []
    })
    return gatherSeeds(mapped, refused)
  },
}
