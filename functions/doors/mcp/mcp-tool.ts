import type { CallToolResult, McpServer, ToolAnnotations } from '@modelcontextprotocol/server'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { TOOL_TEXTS } from './mcp-texts.ts'

/** What a client puts beside the arguments of a call: `_meta`. */
export type Meta = Record<string, unknown>

/** A tool by both ways to it: a server of the official package, and a call that needs none. */
export interface Tool {
  name: keyof typeof TOOL_TEXTS
  register(server: McpServer): void
  /** @returns what that server answers; null where it has to say what is wrong with the arguments */
  answer(given: Record<string, unknown>, meta: Meta): Promise<CallToolResult> | null
}

interface Shapes<Input> {
  input: Input
  output: v.GenericSchema
  annotations: ToolAnnotations
}

/** A server is made for each request: the schemas are written out once for all of them. */
export function createTool<const Input extends v.GenericSchema>(
  name: Tool['name'],
  { input, output, annotations }: Shapes<Input>,
  answer: (asked: v.InferOutput<Input>, meta: Meta) => Promise<CallToolResult>,
): Tool {
  const config = {
    ...TOOL_TEXTS[name],
    annotations,
    inputSchema: toStandardJsonSchema(input),
    outputSchema: toStandardJsonSchema(output),
  }
  return {
    name,
    register(server) {
      server.registerTool(name, config, (asked, { mcpReq }) => answer(asked, mcpReq._meta ?? {}))
    },
    answer(given, meta) {
      const asked = v.safeParse(input, given)
      return asked.success ? answer(asked.output, meta) : null
    },
  }
}
