import { isJsonObject } from '../../../src/domain/wire/parse-json.ts'
import type { SeedSource } from '../../facts/seed-source.ts'
import { nextByCursor } from '../../fetch/next-page.ts'
import { parseRows, type RowShape } from '../../fetch/parse-rows.ts'
import { chooseSeeds } from './choose-seeds.ts'
import { REGISTRY_SOURCE, REGISTRY_URL } from './registry-source.ts'

const SHAPE: RowShape = {
  lists: ['servers'],
  expected: 'a page of servers or a line of JSON for each',
  isRow: (value) => isJsonObject(value.server) || typeof value.name === 'string',
}

/** The MCP registry, newest version of every server. */
export const mcpRegistry: SeedSource = {
  id: 'mcp-registry',
  title: 'servers of the MCP registry',
  liveUrl: `${REGISTRY_URL}/v0.1/servers?limit=100&version=latest`,
  promisesAll: true,
  sourceIds: [REGISTRY_SOURCE],
  parse(text, address) {
    const { values, refused, page } = parseRows(text, SHAPE)
    const metadata = isJsonObject(page?.metadata) ? page.metadata : {}
    // Old registries wrote `next_cursor`.
    const next = nextByCursor(address, metadata.nextCursor ?? metadata.next_cursor)
    return { values, refused, next }
  },
  choose: chooseSeeds,
  /** With `updated_since` the registry shows deleted servers too. */
  since(liveUrl, instant) {
    const url = new URL(liveUrl)
    url.searchParams.set('updated_since', instant)
    return url
  },
}
