import type { McpServer } from '@modelcontextprotocol/server'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { fitRows, sizeOf } from '../../../src/domain/doors/cards/fitted-rows.ts'
import { SearchToolInput, TOOL_RESULTS } from '../../../src/domain/doors/tool-inputs.ts'
import { CompactRowSchema, SuggestedSchema } from '../../../src/domain/search/search-response.ts'
import type { Directory } from '../entry/directory.ts'
import { READ_ONLY, TOOL_TEXTS } from './mcp-texts.ts'
import { answerWith, failWith } from './tool-answer.ts'

const input = toStandardJsonSchema(SearchToolInput)
const output = toStandardJsonSchema(
  v.object({
    total: v.number(),
    results: v.array(CompactRowSchema),
    notes: v.array(v.string()),
    suggested: SuggestedSchema,
  }),
)

/** `search_listings`: the same rows in the same order as `GET /api/v1/search`, compact. */
export function registerSearchTool(server: McpServer, directory: Directory): void {
  const config = {
    ...TOOL_TEXTS.search_listings,
    annotations: READ_ONLY,
    inputSchema: input,
    outputSchema: output,
  }
  server.registerTool('search_listings', config, ({ query, limit = TOOL_RESULTS, ...filters }) => {
    const found = directory.search({ q: query, limit, ...filters })
    if ('problems' in found)
      return failWith(
        found.problems
          .map(({ name, detail, allowed }) =>
            allowed === undefined
              ? `${name}: ${detail}`
              : `${name}: ${detail} (${allowed.join(', ')})`,
          )
          .join('; '),
      )
    const { rows, ...rest } = found
    return answerWith({ ...rest, results: fitRows(rows, sizeOf(rest)) })
  })
}
