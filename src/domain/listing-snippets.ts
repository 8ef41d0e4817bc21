import * as v from 'valibot'

/** A piece of code or configuration to copy. */
export interface Snippet {
  id: string
  label: string
  code: string
}

const LABELS: Readonly<Record<string, string>> = {
  curl: 'curl',
  typescript: 'TypeScript',
  python: 'Python',
  claude_code: 'Claude Code',
  claude_desktop: 'Claude Desktop',
  cursor: 'Cursor',
  vscode: 'VS Code',
  vs_code: 'VS Code',
  windsurf: 'Windsurf',
  codex: 'Codex',
  gemini_cli: 'Gemini CLI',
  zed: 'Zed',
}

const KitSnippetsSchema = v.object({ snippets: v.record(v.string(), v.unknown()) })

/**
 * The snippets of a kit manifest as flat text: nested groups (`mcp_clients`) are opened, and a
 * client configuration given as an object becomes the JSON one pastes into its file.
 */
export function toSnippets(kit: Record<string, unknown>): Snippet[] {
  const parsed = v.safeParse(KitSnippetsSchema, kit)
  return parsed.success ? flatten(parsed.output.snippets) : []
}

function flatten(group: Record<string, unknown>): Snippet[] {
  return Object.entries(group).flatMap(([id, value]): Snippet[] => {
    const label = LABELS[id] ?? id.replaceAll('_', ' ')
    if (typeof value === 'string') return value === '' ? [] : [{ id, label, code: value }]
    if (!isRecord(value)) return []
    if (isGroup(id, value)) return flatten(value)
    return [{ id, label, code: JSON.stringify(value, null, 2) }]
  })
}

/** A group names clients; a configuration is what one client reads. */
function isGroup(id: string, value: Record<string, unknown>): boolean {
  return !Object.hasOwn(LABELS, id) && Object.keys(value).some((key) => Object.hasOwn(LABELS, key))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
