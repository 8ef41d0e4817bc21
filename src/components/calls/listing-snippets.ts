import { nameSnippet } from '../../domain/kit/kit-mcp-snippets.ts'
import type { KitView } from '../../domain/kit/kit-view.ts'

/** The snippets of a kit manifest with what people call them, in the manifest's order. */
export function toSnippets({ snippets }: Pick<KitView, 'snippets'>) {
  return Object.entries(snippets).map(([id, code]) => ({
    ...nameSnippet(id),
    code: code.trimEnd(),
  }))
}
