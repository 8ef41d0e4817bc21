import type { McpServer } from '@modelcontextprotocol/server'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { CompareRowSchema } from '../../../src/domain/compare/compare-row.ts'
import { KitCardSchema, toKitCard } from '../../../src/domain/doors/cards/kit-card.ts'
import { ListingCardSchema, toListingCard } from '../../../src/domain/doors/cards/listing-card.ts'
import {
  CompareToolInput,
  FacetsToolInput,
  KitToolInput,
  ListingToolInput,
} from '../../../src/domain/doors/tool-inputs.ts'
import type { Directory } from '../entry/directory.ts'
import { READ_ONLY, TOOL_TEXTS } from './mcp-texts.ts'
import { answerWith, failWith, failWithUnknown } from './tool-answer.ts'

const listingInput = toStandardJsonSchema(ListingToolInput)
const listingOutput = toStandardJsonSchema(ListingCardSchema)

/** `get_listing`: the full listing less what only people use. */
export function registerListingTool(server: McpServer, directory: Directory): void {
  const config = {
    ...TOOL_TEXTS.get_listing,
    annotations: READ_ONLY,
    inputSchema: listingInput,
    outputSchema: listingOutput,
  }
  server.registerTool('get_listing', config, async ({ id }) => {
    const view = await directory.listing(id)
    return view === null ? failWithUnknown(id) : answerWith(toListingCard(view))
  })
}

const kitInput = toStandardJsonSchema(KitToolInput)
const kitOutput = toStandardJsonSchema(KitCardSchema)

/** `get_kit`: one operation of kit.json whole, without snippets unless one is asked for. */
export function registerKitTool(server: McpServer, directory: Directory): void {
  const config = {
    ...TOOL_TEXTS.get_kit,
    annotations: READ_ONLY,
    inputSchema: kitInput,
    outputSchema: kitOutput,
  }
  server.registerTool('get_kit', config, async ({ id, ...choice }) => {
    const kit = await directory.kit(id)
    if (kit === null) return failWithUnknown(id)
    const card = toKitCard(kit, choice)
    return typeof card === 'string' ? failWith(card) : answerWith(card)
  })
}

const compareInput = toStandardJsonSchema(CompareToolInput)
const compareOutput = toStandardJsonSchema(
  v.object({ rows: v.array(CompareRowSchema), ranking: v.string(), url: v.string() }),
)

/** `compare_listings`: the rows of `GET /api/v1/compare?ids=`, our own kits behind the others. */
export function registerCompareTool(server: McpServer, directory: Directory): void {
  const config = {
    ...TOOL_TEXTS.compare_listings,
    annotations: READ_ONLY,
    inputSchema: compareInput,
    outputSchema: compareOutput,
  }
  server.registerTool('compare_listings', config, async ({ ids }) => {
    const reply = await directory.compare(ids)
    if ('errors' in reply)
      return failWith(reply.errors.map(({ name, detail }) => `${name}: ${detail}`).join('; '))
    const { sections, first_party, ranking, url } = reply.view
    return answerWith({
      rows: [...sections.flatMap(({ rows }) => rows), ...first_party],
      ranking,
      url,
    })
  })
}

const count = v.object({ id: v.string(), count: v.number() })
const facetsInput = toStandardJsonSchema(FacetsToolInput)
const facetsOutput = toStandardJsonSchema(
  v.object({
    total: v.number(),
    kinds: v.array(count),
    categories: v.array(count),
    rails: v.array(count),
    sources: v.array(count),
  }),
)

/** `list_facets`: what the filters of a search may be given. */
export function registerFacetsTool(server: McpServer, directory: Directory): void {
  const config = {
    ...TOOL_TEXTS.list_facets,
    annotations: READ_ONLY,
    inputSchema: facetsInput,
    outputSchema: facetsOutput,
  }
  server.registerTool('list_facets', config, async () => answerWith(await directory.facets()))
}
