import * as v from 'valibot'

/**
 * The MCP registry's published answers (its API of 2025-12-01), as strict as a client generated from
 * them: what it demands is demanded, what it knows has its type, what it does not know is refused.
 */
const url = v.pipe(v.string(), v.regex(/^https?:\/\/\S+$/))
const input = {
  description: v.optional(v.string()),
  isRequired: v.optional(v.boolean()),
  isSecret: v.optional(v.boolean()),
  format: v.optional(v.picklist(['string', 'number', 'boolean', 'filepath'])),
  value: v.optional(v.string()),
  default: v.optional(v.string()),
  placeholder: v.optional(v.string()),
  choices: v.optional(v.array(v.string())),
  variables: v.optional(v.record(v.string(), v.looseObject({}))),
}
const KeyValue = v.strictObject({ ...input, name: v.string() })
const Argument = v.variant('type', [
  v.strictObject({ ...input, type: v.literal('positional'), value: v.string() }),
  v.strictObject({ ...input, type: v.literal('named'), name: v.string() }),
])
const remote = { url, headers: v.optional(v.array(KeyValue)) }
const Transport = v.variant('type', [
  v.strictObject({ type: v.literal('streamable-http'), ...remote }),
  v.strictObject({ type: v.literal('sse'), ...remote }),
])
/** A remote, unlike a package's transport, may have parts that the caller fills in. */
const templated = {
  ...remote,
  url: v.pipe(v.string(), v.regex(/^(?:https?:\/\/\S+|\{[A-Za-z_]\w*\}\S*)$/)),
  variables: v.optional(v.record(v.string(), v.strictObject(input))),
}
const Remote = v.variant('type', [
  v.strictObject({ type: v.literal('streamable-http'), ...templated }),
  v.strictObject({ type: v.literal('sse'), ...templated }),
])
const Package = v.strictObject({
  registryType: v.picklist(['npm', 'pypi', 'oci', 'nuget', 'mcpb', 'cargo']),
  registryBaseUrl: v.optional(url),
  identifier: v.pipe(v.string(), v.minLength(1)),
  version: v.optional(v.pipe(v.string(), v.minLength(1), v.notValue('latest'))),
  transport: v.union([v.strictObject({ type: v.literal('stdio') }), Transport]),
  runtimeHint: v.optional(v.string()),
  runtimeArguments: v.optional(v.array(Argument)),
  packageArguments: v.optional(v.array(Argument)),
  environmentVariables: v.optional(v.array(KeyValue)),
})
const ServerDetail = v.strictObject({
  $schema: v.literal(
    'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  ),
  repository: v.optional(v.strictObject({ url, source: v.string() })),
  name: v.pipe(v.string(), v.regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/), v.maxLength(200)),
  description: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
  title: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(100))),
  version: v.pipe(v.string(), v.maxLength(255), v.regex(/^(?!latest$)[^\s^~*<>=]+$/)),
  websiteUrl: v.optional(url),
  remotes: v.optional(v.array(Remote)),
  packages: v.optional(v.array(Package)),
})
const instant = v.pipe(v.string(), v.isoTimestamp())
const Official = v.strictObject({
  status: v.picklist(['active', 'deprecated', 'deleted']),
  statusMessage: v.optional(v.pipe(v.string(), v.maxLength(500))),
  statusChangedAt: v.optional(instant),
  publishedAt: v.optional(instant),
  updatedAt: v.optional(instant),
  isLatest: v.boolean(),
})

export const ServerResponse = v.strictObject({
  server: ServerDetail,
  _meta: v.objectWithRest(
    { 'io.modelcontextprotocol.registry/official': Official },
    v.looseObject({}),
  ),
})
export const ServerList = v.strictObject({
  servers: v.array(ServerResponse),
  metadata: v.strictObject({
    count: v.pipe(v.number(), v.integer()),
    nextCursor: v.optional(v.pipe(v.string(), v.minLength(1))),
  }),
})
export type FoundServer = v.InferOutput<typeof ServerResponse>

/**
 * Reads a registry as VS Code does with what `chat.mcp.gallery.serviceUrl` says: without a slash at
 * its end, a probe for the version of the API, pages of fifty of the latest versions with the cursor as
 * it was given and without the words that were searched for, then each server by its encoded name.
 */
export async function readAsEditor(
  serviceUrl: string,
  {
    text,
    pageSize = 50,
    headers = {},
  }: { text?: string; pageSize?: number; headers?: HeadersInit } = {},
) {
  const servers = `${serviceUrl.replace(/\/$/, '')}/v0.1/servers`
  const requested: string[] = []
  const ask = async (address: string) => {
    requested.push(address)
    const origin = { Origin: 'vscode-file://vscode-app', ...headers }
    const response = await fetch(address, { headers: origin })
    if (response.headers.get('access-control-allow-origin') !== '*')
      throw new Error('Failed to fetch')
    if (!response.ok) throw new Error(`Server returned ${response.status}`)
    return response.json()
  }
  v.parse(ServerList, await ask(`${servers}?limit=1`))
  const found: FoundServer[] = []
  let more = text === undefined ? '' : `&search=${encodeURIComponent(text)}`
  for (let pages = 0; pages < 20; pages += 1) {
    const page = v.parse(
      ServerList,
      await ask(`${servers}?limit=${pageSize}&version=latest${more}`),
    )
    found.push(...page.servers)
    if (page.metadata.nextCursor === undefined) break
    more = `&cursor=${page.metadata.nextCursor}`
  }
  for (const { server } of found) {
    const one = await ask(`${servers}/${encodeURIComponent(server.name)}/versions/latest`)
    if (v.parse(ServerResponse, one).server.name !== server.name) throw new Error(server.name)
  }
  return { found, requested }
}
