import type { McpServer } from '@modelcontextprotocol/server'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { ListingCardSchema, toListingCard } from '../../../src/domain/doors/listing-card.ts'
import { FacetsToolInput, ListingToolInput } from '../../../src/domain/doors/tool-inputs.ts'
import type { Directory } from '../entry/directory.ts'
import { READ_ONLY, TOOL_TEXTS } from './mcp-texts.ts'
import { answerWith, failWithUnknown } from './tool-answer.ts'

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
