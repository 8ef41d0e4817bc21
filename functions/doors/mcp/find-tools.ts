import type { McpServer } from '@modelcontextprotocol/server'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { fitRows, sizeOf } from '../../../src/domain/doors/cards/fitted-rows.ts'
import {
  OperationsToolInput,
  SearchToolInput,
  TOOL_RESULTS,
} from '../../../src/domain/doors/tool-inputs.ts'
import type { ParameterProblem } from '../../../src/domain/search/search-parameters.ts'
import {
  CompactRowSchema,
  OperationsAnswerSchema,
  SuggestedSchema,
} from '../../../src/domain/search/search-response.ts'
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
    if ('problems' in found) return failWith(toText(found.problems))
    const { rows, ...rest } = found
    return answerWith({ ...rest, results: fitRows(rows, sizeOf(rest)) })
  })
}

/** `find_operations`: what `GET /api/v1/operations` answers, to be called at once. */
export function registerOperationsTool(server: McpServer, directory: Directory): void {
  const config = {
    ...TOOL_TEXTS.find_operations,
    annotations: READ_ONLY,
    inputSchema: toStandardJsonSchema(OperationsToolInput),
    outputSchema: toStandardJsonSchema(OperationsAnswerSchema),
  }
  server.registerTool('find_operations', config, ({ query, ...others }) => {
    const found = directory.findOperations({ q: query, ...others })
    return 'problems' in found ? failWith(toText(found.problems)) : answerWith(found)
  })
}

function toText(problems: readonly ParameterProblem[]): string {
  return problems
    .map(({ name, detail, allowed }) =>
      allowed === undefined ? `${name}: ${detail}` : `${name}: ${detail} (${allowed.join(', ')})`,
    )
    .join('; ')
}
