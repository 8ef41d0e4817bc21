import type { CallToolResult, McpServer, ToolAnnotations } from '@modelcontextprotocol/server'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import type { Switches } from '../../../src/domain/derived/switches.ts'
import {
  type ToolInput,
  toOfferedInput,
  withOwnNames,
} from '../../../src/domain/doors/tool-inputs.ts'
import { isJsonObject } from '../../../src/domain/wire/parse-json.ts'
import { type ToolName, toToolTexts } from './mcp-texts.ts'

/** What a client sends next to the arguments of a call: `_meta`. */
export type Meta = Record<string, unknown>

/** A tool with both ways to call it: through the official package's server, or directly. */
export interface Tool {
  name: ToolName
  register(server: McpServer): void
  /** @returns that server's answer; null where the server must report wrong arguments */
  answer(given: Record<string, unknown>, meta: Meta): Promise<CallToolResult> | null
}

/** Makes a tool for a directory that may be without payments or trust. */
export type OfferedTool = (switches: Switches) => Tool

interface Shapes<Input> {
  input: Input
  output: v.GenericSchema
  annotations: ToolAnnotations
}

/** A server is made for each request: the schemas are written out once for all of them. */
export function createTool<const Input extends ToolInput>(
  name: Tool['name'],
  { input, output, annotations }: Shapes<Input>,
  answer: (asked: v.InferOutput<Input>, meta: Meta) => Promise<CallToolResult>,
): OfferedTool {
  return (switches) => {
    const offered = toOfferedInput(input, switches)
    const listed = toStandardJsonSchema(offered)
    const { validate } = listed['~standard']
    const inputSchema = {
      '~standard': {
        ...listed['~standard'],
        validate: (given: unknown) =>
          validate(isJsonObject(given) ? withOwnNames(offered, given) : given),
      },
    }
    const config = {
      ...toToolTexts(switches)[name],
      annotations,
      inputSchema,
      outputSchema: toStandardJsonSchema(output),
    }
    return {
      name,
      register(server) {
        server.registerTool(name, config, (asked, { mcpReq }) =>
          answer(v.parse(input, asked), mcpReq._meta ?? {}),
        )
      },
      answer(given, meta) {
        const named = withOwnNames(offered, given)
        return v.is(offered, named) ? answer(v.parse(input, named), meta) : null
      },
    }
  }
}
