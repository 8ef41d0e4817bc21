import type { InvokeEntry } from '../listing/invoke.ts'

/**
 * Ready configuration for MCP clients, one text a client, in the shape each documents: JSON for
 * all but Codex, which reads TOML. The best way in is used for all: a remote over HTTP, then over
 * SSE, then a package started over stdio.
 *
 * Known limit: a package's environment variables and arguments are not in the index; the listing's
 * page links to its documentation.
 */
export function toMcpSnippets(id: string, invoke: readonly InvokeEntry[]): Record<string, string> {
  const way = findWay(invoke)
  if (way === null) return toDownload(invoke)
  const name = toServerName(id)
  const started = 'url' in way ? { command: 'npx', args: ['-y', 'mcp-remote', way.url] } : way
  return {
    claude_code: toJson('mcpServers', name, toTyped(way)),
    claude_desktop: toJson('mcpServers', name, started),
    cursor: toJson('mcpServers', name, 'url' in way ? { url: way.url } : way),
    vscode: toJson('servers', name, toTyped(way)),
    windsurf: toJson('mcpServers', name, 'url' in way ? { serverUrl: way.url } : way),
    gemini_cli: toJson('mcpServers', name, toGemini(way)),
    codex: toCodexToml(name, way),
  }
}

/** Where each client keeps its configuration, for those who paste it. */
export const MCP_CLIENTS = {
  claude_code: { label: 'Claude Code', file: '.mcp.json', language: 'json' },
  claude_desktop: {
    label: 'Claude Desktop',
    file: 'claude_desktop_config.json',
    language: 'json',
  },
  cursor: { label: 'Cursor', file: '.cursor/mcp.json', language: 'json' },
  vscode: { label: 'VS Code', file: '.vscode/mcp.json', language: 'json' },
  windsurf: { label: 'Windsurf', file: '~/.codeium/windsurf/mcp_config.json', language: 'json' },
  gemini_cli: { label: 'Gemini CLI', file: '.gemini/settings.json', language: 'json' },
  codex: { label: 'Codex', file: '~/.codex/config.toml', language: 'toml' },
} as const

type Way =
  | { url: string; transport: 'streamable-http' | 'sse' }
  | { command: string; args: string[] }

function findWay(invoke: readonly InvokeEntry[]): Way | null {
  const remotes = invoke.filter((entry) => entry.kind === 'mcp')
  const remote = remotes.find(({ transport }) => transport === 'streamable-http') ?? remotes[0]
  if (remote !== undefined) return { url: remote.url, transport: remote.transport }
  for (const entry of invoke) {
    const command = entry.kind === 'mcp_package' ? toCommand(entry) : null
    if (command !== null) return command
  }
  return null
}

function toCommand(
  entry: Extract<InvokeEntry, { kind: 'mcp_package' }>,
): { command: string; args: string[] } | null {
  if (entry.transport !== 'stdio') return null
  const { identifier } = entry
  switch (entry.registry) {
    case 'npm':
      return { command: 'npx', args: ['-y', identifier] }
    case 'pypi':
      return { command: 'uvx', args: [identifier] }
    case 'oci':
      return { command: 'docker', args: ['run', '-i', '--rm', identifier] }
    case 'nuget':
      return { command: 'dnx', args: [identifier, '--yes'] }
    case 'mcpb':
      return null
  }
}

/** An MCP bundle is opened by its client, not configured: only the download can be said. */
function toDownload(invoke: readonly InvokeEntry[]): Record<string, string> {
  const bundle = invoke.find((entry) => entry.kind === 'mcp_package' && entry.registry === 'mcpb')
  if (bundle?.kind !== 'mcp_package') return {}
  const url = `'${bundle.identifier.replaceAll("'", "'\\''")}'`
  return { curl: `# Then open the bundle with your MCP client.\ncurl -fLO ${url}\n` }
}

/** Claude Code and VS Code name the transport in `type`. */
function toTyped(way: Way): object {
  if (!('url' in way)) return { type: 'stdio', ...way }
  return { type: way.transport === 'sse' ? 'sse' : 'http', url: way.url }
}

/** Gemini CLI tells the transports apart by the key. */
function toGemini(way: Way): object {
  if (!('url' in way)) return way
  return way.transport === 'sse' ? { url: way.url } : { httpUrl: way.url }
}

function toJson(root: string, name: string, server: object): string {
  return `${JSON.stringify({ [root]: { [name]: server } }, null, 2)}\n`
}

/** JSON strings are TOML basic strings. */
function toCodexToml(name: string, way: Way): string {
  const lines =
    'url' in way
      ? [`url = ${JSON.stringify(way.url)}`]
      : [`command = ${JSON.stringify(way.command)}`, `args = ${JSON.stringify(way.args)}`]
  return `[mcp_servers.${name}]\n${lines.join('\n')}\n`
}

/** Bare TOML key and JSON key alike: the slug with its dots as dashes. */
function toServerName(id: string): string {
  return id
    .slice(id.indexOf('.') + 1)
    .replaceAll('.', '-')
    .slice(0, 60)
}
