import { MCP_CLIENTS } from '../../domain/kit/kit-mcp-snippets.ts'
import type { KitView } from '../../domain/kit/kit-view.ts'

/** A piece of code or configuration to copy. */
export interface Snippet {
  label: string
  /** The client's file it goes into; null for code. */
  file: string | null
  code: string
}

const LANGUAGES: Readonly<Record<string, string>> = {
  curl: 'curl',
  typescript: 'TypeScript',
  python: 'Python',
}
const CLIENTS: Readonly<Record<string, { label: string; file: string }>> = MCP_CLIENTS

/** The snippets of a kit manifest with what people call them, in the manifest's order. */
export function toSnippets({ snippets }: Pick<KitView, 'snippets'>): Snippet[] {
  return Object.entries(snippets).map(([id, code]) => ({
    label: CLIENTS[id]?.label ?? LANGUAGES[id] ?? id.replaceAll('_', ' '),
    file: CLIENTS[id]?.file ?? null,
    code: code.trimEnd(),
  }))
}
