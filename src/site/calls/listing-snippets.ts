import { MCP_CLIENTS } from '../../domain/kit/kit-mcp-snippets.ts'
import type { KitView } from '../../domain/kit/kit-view.ts'

const LANGUAGES: Readonly<Record<string, string>> = {
  curl: 'curl',
  typescript: 'TypeScript',
  python: 'Python',
}

/** The snippets of a kit manifest with what people call them, in the manifest's order. */
export function toSnippets({ snippets }: Pick<KitView, 'snippets'>) {
  return Object.entries(snippets).map(([id, code]) => ({
    label: MCP_CLIENTS[id]?.label ?? LANGUAGES[id] ?? id.replaceAll('_', ' '),
    /** The client's file it goes into; null for code. */
    file: MCP_CLIENTS[id]?.file ?? null,
    code: code.trimEnd(),
  }))
}
