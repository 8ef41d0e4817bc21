import type { CallToolResult } from '@modelcontextprotocol/server'

/** An answer in both forms a client may read: structured, and the same JSON as text. */
export function answerWith(value: object): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(value) }],
    structuredContent: { ...value },
  }
}

/** What went wrong and what would be right, for the model to read and try again. */
export function failWith(sentence: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: sentence }] }
}

/** @example failWithUnknown('mcp.nope') */
export function failWithUnknown(id: string): CallToolResult {
  return failWith(
    `No listing has the id ${JSON.stringify(id)}. search_listings gives ids such as x402.exa or mcp.github.`,
  )
}
