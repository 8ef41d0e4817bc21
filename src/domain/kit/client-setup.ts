import * as v from 'valibot'
import type { SignIn } from '../listing/invoke.ts'
import type { ListingFacts } from '../listing/listing-facts.ts'
import { toSlug } from '../listing/listing-text.ts'
import { quoteForShell, toShellWords } from '../listing/operation.ts'
import { toShownHost } from '../listing/target-url.ts'
import { SKILL_SOURCE } from '../sources/source-row.ts'
import { parseJson } from '../wire/json.ts'
import type { KitInvoke } from './kit-entries.ts'

/**
 * Ready configuration, in each client's format. The best entry is used for all clients: a remote over HTTP, then
 * over SSE, then a package over stdio. Claude Desktop, which only starts programs, and Codex, which has no SSE,
 * reach a remote through `mcp-remote`. Optional settings are listed in `invoke`.
 */
export function toMcpSnippets(id: string, invoke: readonly KitInvoke[]): Record<string, string> {
  const way = findWay(invoke)
  if (way === null) return toDownload(invoke)
  // A name that is valid as a bare TOML key and as a JSON key.
  const name = toSlug(id).replaceAll('.', '-').slice(0, 60)
  if (!('url' in way)) {
    const typed = { type: 'stdio', ...way }
    const others = { cursor: way, vscode: typed, devin_desktop: way, gemini_cli: way }
    return {
      claude_code_add: toAddCommand(name, way),
      ...toTexts(name, { claude_code: typed, claude_desktop: way, ...others }, way),
    }
  }
  const { url, transport } = way
  const isSse = transport === 'sse'
  const headers = Object.keys(way.headers).length > 0 && { headers: way.headers }
  const typed = { type: isSse ? 'sse' : 'http', url, ...headers }
  const started = toBridge(way)
  const servers = {
    claude_code: typed,
    claude_desktop: started,
    cursor: { url, ...headers },
    vscode: typed,
    // Devin Desktop, Windsurf's successor, connects over HTTP unless another transport is given.
    devin_desktop: { url, ...(isSse && { transport }), ...headers },
    // Gemini CLI reads the transport from the key.
    gemini_cli: { [isSse ? 'url' : 'httpUrl']: url, ...headers },
  }
  return {
    claude_code_add: toAddCommand(name, way),
    ...toTexts(name, servers, isSse ? started : way),
  }
}

/**
 * The one line that adds a server to Claude Code; options that take several values come before
 * others (https://code.claude.com/docs/en/mcp).
 * @example 'claude mcp add --transport http exa https://mcp.exa.ai/mcp'
 */
function toAddCommand(name: string, way: Way): string {
  const words =
    'url' in way
      ? [
          ...['--transport', way.transport === 'sse' ? 'sse' : 'http', name, way.url],
          ...Object.entries(way.headers).flatMap(([key, value]) => [
            '--header',
            `${key}: ${value}`,
          ]),
        ]
      : [
          ...Object.entries(way.env ?? {}).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
          ...['--transport', 'stdio', name, '--', way.command, ...way.args],
        ]
  return `claude mcp add ${toShellWords(words)}\n`
}

/** The Claude Code command that adds a directory's MCP server, through which agents find and call services. */
export function toOwnAddCommand(directory: string, baseUrl: string): string {
  const way = { transport: 'streamable-http', url: `${baseUrl}/mcp`, headers: {} } as const
  return toAddCommand(directory.toLowerCase().replace(/[^a-z0-9]+/g, '-'), way).trimEnd()
}

function toTexts(name: string, servers: Record<string, object>, codex: Way): Named {
  const texts = Object.entries(servers).map(([client, server]) => {
    const root = client === 'vscode' ? 'servers' : 'mcpServers'
    return [client, `${JSON.stringify({ [root]: { [name]: server } }, null, 2)}\n`]
  })
  return { ...Object.fromEntries(texts), codex: toCodexToml(name, codex) }
}

/** Where each client keeps its configuration, for people who paste it. */
export const MCP_CLIENTS: Readonly<Record<string, { label: string; file: string | null }>> = {
  claude_code_add: { label: 'Claude Code', file: null },
  claude_code: { label: '.mcp.json', file: '.mcp.json' },
  claude_desktop: { label: 'Claude Desktop', file: 'claude_desktop_config.json' },
  cursor: { label: 'Cursor', file: '.cursor/mcp.json' },
  vscode: { label: 'VS Code', file: '.vscode/mcp.json' },
  devin_desktop: { label: 'Devin Desktop', file: '~/.config/devin/mcp_config.json' },
  gemini_cli: { label: 'Gemini CLI', file: '.gemini/settings.json' },
  codex: { label: 'Codex', file: '~/.codex/config.toml' },
}

/** The common agents, each with its name for the `skills` command, which installs a skill. */
const SKILL_AGENTS: Readonly<Record<string, { label: string; agent: string | null }>> = {
  install: { label: 'Any agent', agent: null },
  install_claude_code: { label: 'Claude Code', agent: 'claude-code' },
  install_codex: { label: 'Codex', agent: 'codex' },
  install_cursor: { label: 'Cursor', agent: 'cursor' },
  install_gemini_cli: { label: 'Gemini CLI', agent: 'gemini-cli' },
  install_github_copilot: { label: 'GitHub Copilot', agent: 'github-copilot' },
}

const LANGUAGES: Readonly<Record<string, string>> = {
  curl: 'curl',
  typescript: 'TypeScript',
  python: 'Python',
}

/**
 * What people call a snippet, and the client's file into which it goes; `file` is null for code.
 * @example nameSnippet('claude_code') → { label: 'Claude Code', file: '.mcp.json' }
 */
export function nameSnippet(id: string): { label: string; file: string | null } {
  const label = SKILL_AGENTS[id]?.label ?? LANGUAGES[id] ?? id.replaceAll('_', ' ')
  return MCP_CLIENTS[id] ?? { label, file: null }
}

/**
 * The commands that install a kit, if it is a folder of a public GitHub repository that is known to
 * contain skills: https://github.com/vercel-labs/skills puts them where each agent looks for
 * skills. Other kits get no commands.
 */
export function toSkillSnippets({ url, sources }: Pick<ListingFacts, 'url' | 'sources'>): Named {
  const isSkill = sources.some(({ source }) => source === SKILL_SOURCE)
  const [, repository, branch = '', folder = ''] =
    /^https:\/\/github\.com\/([\w-]+\/[\w.-]+)(?:\/tree\/([\w.-]+)((?:\/[\w@.-]+)*))?$/.exec(url) ??
    []
  if (!isSkill || repository === undefined) return {}
  // git cannot fetch a branch called `HEAD`; if no branch is given, the repository's default is taken.
  const address = branch === 'HEAD' ? `${repository}${folder}` : url
  return Object.fromEntries(
    Object.entries(SKILL_AGENTS).map(([id, { agent }]) => [
      id,
      `npx skills add ${address}${agent === null ? '' : ` --agent ${agent}`}\n`,
    ]),
  )
}

type Named = Record<string, string>
interface Remote {
  url: string
  transport: 'streamable-http' | 'sse'
  headers: Named
}
interface Started {
  command: string
  args: string[]
  /** Environment variables; absent if none is needed. */
  env?: Named
}
type Way = Remote | Started

/** The best way to reach or start the server; null if nothing can be configured. */
export function findWay(invoke: readonly KitInvoke[]): Way | null {
  const remotes = invoke.filter((entry) => entry.kind === 'mcp')
  const remote = remotes.find(({ transport }) => transport === 'streamable-http') ?? remotes[0]
  if (remote !== undefined)
    return { url: remote.url, transport: remote.transport, headers: requiredOf(remote.headers) }
  for (const entry of invoke) {
    const command = entry.kind === 'mcp_package' ? toCommand(entry) : null
    if (command !== null) return command
  }
  return null
}

function requiredOf(settings: KitSettings = []): Named {
  return Object.fromEntries(
    settings.filter(({ required }) => required).map(({ name, value }) => [name, value]),
  )
}

type Packaged = Extract<KitInvoke, { kind: 'mcp_package' }>
type KitSettings = Packaged['env']

function toCommand(entry: Packaged): Started | null {
  if (entry.transport !== 'stdio') return null
  const { identifier, args = [] } = entry
  const env = requiredOf(entry.env)
  const names = Object.keys(env)
  const start = (command: string, own: string[]): Started => ({
    command,
    args: own,
    ...(names.length > 0 && { env }),
  })
  switch (entry.registry) {
    case 'npm':
      return start('npx', ['-y', identifier, ...args])
    case 'pypi':
      return start('uvx', [identifier, ...args])
    case 'oci': {
      const passed = names.flatMap((name) => ['-e', name])
      return start('docker', ['run', '-i', '--rm', ...passed, identifier, ...args])
    }
    case 'nuget':
      return start('dnx', [identifier, '--yes', ...(args.length > 0 ? ['--', ...args] : [])])
    case 'mcpb':
      return null
  }
}

/** Header values go in the environment: some clients break arguments apart, and other users can see them. */
function toBridge({ url, headers }: Remote): Started {
  const passed = Object.entries(headers).map(([name, value]) => {
    const variable = `${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_HEADER`
    return { argument: `${name}:\${${variable}}`, variable, value }
  })
  return {
    command: 'npx',
    args: ['-y', 'mcp-remote', url, ...passed.flatMap(({ argument }) => ['--header', argument])],
    ...(passed.length > 0 && {
      env: Object.fromEntries(passed.map(({ variable, value }) => [variable, value])),
    }),
  }
}

/** An MCP bundle is opened by its client, not configured: only the download can be shown. */
function toDownload(invoke: readonly KitInvoke[]): Record<string, string> {
  const bundle = invoke.find((entry) => entry.kind === 'mcp_package' && entry.registry === 'mcpb')
  if (bundle?.kind !== 'mcp_package') return {}
  const url = quoteForShell(bundle.identifier)
  return { curl: `# Then open the bundle with your MCP client.\ncurl -fLO ${url}\n` }
}

/** A JSON string is also a TOML basic string. */
function toCodexToml(name: string, way: Way): string {
  const text = (value: unknown) => JSON.stringify(value)
  const table = (named: Named) =>
    Object.entries(named)
      .map(([key, value]) => `${text(key)} = ${text(value)}`)
      .join(', ')
  const lines =
    'url' in way
      ? [
          `url = ${text(way.url)}`,
          ...(Object.keys(way.headers).length > 0
            ? [`http_headers = { ${table(way.headers)} }`]
            : []),
        ]
      : [
          `command = ${text(way.command)}`,
          `args = [${way.args.map(text).join(', ')}]`,
          ...(way.env === undefined ? [] : [`env = { ${table(way.env)} }`]),
        ]
  return `[mcp_servers.${name}]\n${lines.join('\n')}\n`
}

const SettingsSchema = v.union([
  v.object({ servers: v.record(v.string(), v.looseObject({})) }),
  v.object({ mcpServers: v.record(v.string(), v.looseObject({})) }),
])

/** Links for clients that document a link format, made from the configuration that is shown for copying. */
export function toAddLinks({ snippets }: { snippets: Readonly<Record<string, string>> }) {
  return [
    toLink('Cursor', snippets.cursor, (name, config) => {
      const query = new URLSearchParams({ name, config: toBase64(config) })
      return `cursor://anysphere.cursor-deeplink/mcp/install?${query}`
    }),
    toLink('VS Code', snippets.vscode, (name, config) => {
      const text = JSON.stringify({ name, ...config })
      return `vscode:mcp/install?${encodeURIComponent(text)}`
    }),
  ].flatMap((link) => link ?? [])
}

function toLink(
  label: string,
  snippet: string | undefined,
  toUrl: (name: string, config: object) => string,
) {
  if (snippet === undefined) return null
  const settings = v.safeParse(SettingsSchema, parseJson(snippet))
  if (!settings.success) return null
  const { output } = settings
  const [entry] = Object.entries('servers' in output ? output.servers : output.mcpServers)
  if (entry === undefined) return null
  return { label, url: toUrl(entry[0], entry[1]), isUnfinished: /<[A-Z_]+>/.test(snippet) }
}

/** The configuration in base64, escaped to plain ASCII first: not every client decodes UTF-8. */
function toBase64(config: object): string {
  const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return btoa(JSON.stringify(config).replace(/[\u0080-\uffff]/g, toEscape))
}

const GRANT_WORDS: Readonly<Record<string, string>> = {
  authorization_code: 'an authorization code',
  refresh_token: 'a refresh token',
  client_credentials: 'client credentials',
  implicit: 'the implicit grant',
  'urn:ietf:params:oauth:grant-type:device_code': 'a device code',
  'urn:ietf:params:oauth:grant-type:token-exchange': 'a token exchange',
  'urn:ietf:params:oauth:grant-type:jwt-bearer': 'a signed assertion',
}

const REGISTRATION_WORDS: Readonly<Record<Registration, string>> = {
  metadata_document: 'A new client gives the address of its own metadata.',
  dynamic: 'A new client registers itself.',
  by_hand: 'A new client is registered with the seller by hand first.',
  unknown: 'How a new client registers is not known.',
}

const OR_LIST = new Intl.ListFormat('en-GB', { type: 'disjunction' })

/** Where a person signs in: the server's sign-in page, or the server itself if the page is unknown. */
function signInUrlOf({ authorization_endpoint, authorization_server }: SignIn): string {
  return authorization_endpoint ?? authorization_server
}

/**
 * @example toSignInText({ authorization_server: 'https://id.example', … }) →
 * 'Sign in at id.example, by an authorization code or a refresh token, with PKCE. A new client registers itself.'
 */
export function toSignInText(signIn: SignIn): string {
  const grants = grantsOf(signIn).map((grant) => GRANT_WORDS[grant] ?? grant)
  const by = grants.length === 0 ? '' : `, by ${OR_LIST.format(grants)}`
  const { code_challenge_methods_supported: methods = [] } = signIn
  const proof = methods.includes('S256') ? ', with PKCE' : ''
  const host = toShownHost(new URL(signInUrlOf(signIn)).host)
  return `Sign in at ${host}${by}${proof}. ${REGISTRATION_WORDS[registrationOf(signIn)]}`
}

/** How a client unknown to the server gets an id. */
type Registration = 'metadata_document' | 'dynamic' | 'by_hand' | 'unknown'

/** `by_hand` only if the server's metadata was read: otherwise it may have a registration that we do not know. */
export function registrationOf(signIn: SignIn): Registration {
  if (signIn.client_id_metadata_document_supported === true) return 'metadata_document'
  if (signIn.registration_endpoint !== undefined) return 'dynamic'
  return signIn.token_endpoint === undefined ? 'unknown' : 'by_hand'
}

/** RFC 8414 §2: the default for a server that names no grants. */
const DEFAULT_GRANTS = ['authorization_code', 'implicit']

function grantsOf({ grant_types_supported, token_endpoint }: SignIn): readonly string[] {
  return grant_types_supported ?? (token_endpoint === undefined ? [] : DEFAULT_GRANTS)
}
