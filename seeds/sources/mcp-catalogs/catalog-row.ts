import * as v from 'valibot'
import { isJsonObject } from '../../../src/domain/wire/parse-json.ts'

/**
 * A server as Docker's catalogue tells it (`server.yaml` with its `tools.json`, or a row of the
 * catalogue that is built from them) or as ToolHive's does (`spec.yaml`, or a row of `registry.json`).
 */
const MAX_ENTRIES = 500
const text = v.optional(v.nullable(v.pipe(v.string(), v.maxLength(20_000))))
const list = v.optional(v.nullable(v.pipe(v.array(v.unknown()), v.maxLength(MAX_ENTRIES))))

const RowSchema = v.object({
  name: v.pipe(v.string('expected text'), v.regex(/^[\w.-]{1,100}$/, 'expected a name')),
  title: text,
  description: text,
  image: text,
  /** ToolHive's remote servers. */
  url: text,
  transport: text,
  repository_url: text,
  about: v.optional(v.nullable(v.object({ title: text, description: text }))),
  source: v.optional(v.nullable(v.object({ project: text }))),
  remote: v.optional(v.nullable(v.object({ url: text, transport_type: text }))),
  config: v.optional(v.nullable(v.object({ secrets: list, env: list }))),
  secrets: list,
  env: list,
  env_vars: list,
  tools: list,
})
type Row = v.InferOutput<typeof RowSchema>

export type CatalogRow = ReturnType<typeof toServer>

/** @returns the server in the registry's words and its tools, or what is wrong with the row. */
export function parseCatalogRow(
  value: unknown,
  namespace: string,
): CatalogRow | { name: string; detail: string } {
  const result = v.safeParse(RowSchema, value)
  if (result.success) return toServer(result.output, namespace)
  const [issue] = result.issues
  const name = isJsonObject(value) && typeof value.name === 'string' ? value.name : '(no name)'
  return { name: name.slice(0, 100), detail: `${v.getDotPath(issue) ?? 'row'}: ${issue.message}` }
}

function toServer(row: Row, namespace: string) {
  const { about, source, remote, config } = row
  const url = remote?.url ?? row.url
  const secrets = [...(config?.secrets ?? []), ...(row.secrets ?? [])]
  const settings = [...(config?.env ?? []), ...(row.env ?? []), ...(row.env_vars ?? [])]
  const environmentVariables = [
    ...secrets.flatMap((each) => toSetting(each, true)),
    ...settings.flatMap((each) => toSetting(each, false)),
  ]
  const identifier = row.image?.replace(/@sha256:[0-9a-f]+$/, '').replace(/:latest$/, '')
  return {
    name: row.name,
    server: {
      name: `${namespace}/${row.name}`,
      title: about?.title ?? row.title,
      description: about?.description ?? row.description,
      repository: { url: source?.project ?? row.repository_url },
      remotes: url
        ? [{ type: remote?.transport_type ?? row.transport ?? 'streamable-http', url }]
        : [],
      packages:
        identifier && !url
          ? [
              {
                registryType: 'oci',
                identifier: identifier.replace(/^docker\.io\//, ''),
                transport: { type: 'stdio' },
                environmentVariables,
              },
            ]
          : [],
    },
    tools: (row.tools ?? []).flatMap(toTool),
  }
}

function toSetting(value: unknown, isSecret: boolean): object[] {
  if (!isJsonObject(value)) return []
  const name = isSecret ? value.env : value.name
  if (typeof name !== 'string') return []
  const secret = isSecret || value.secret === true
  return [{ name, isSecret: secret, isRequired: isSecret || value.required === true }]
}

/** A name alone, or a name with its arguments: a catalogue's sentences stay where they are. */
function toTool(value: unknown): object[] {
  if (typeof value === 'string') return [{ name: value }]
  if (!isJsonObject(value) || typeof value.name !== 'string') return []
  const { name, arguments: words } = value
  if (!Array.isArray(words)) return [{ name }]
  const known = words.filter(isJsonObject).filter((word) => typeof word.name === 'string')
  const properties = Object.fromEntries(
    known.map((word) => [
      String(word.name),
      typeof word.type === 'string' && TYPES.has(word.type) ? { type: word.type } : {},
    ]),
  )
  const required = known.filter((word) => word.optional === false).map((word) => String(word.name))
  const inputSchema = {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
  }
  return [{ name, inputSchema }]
}

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object'])
