import * as v from 'valibot'
import type { SourceRow } from '../../../src/domain/derived/source-table.ts'
import { isJsonObject } from '../../../src/domain/wire/parse-json.ts'
import { describeIssue, type MappedSeed, parseRow, refuse } from '../../facts/map-rows.ts'
import { type Fault, faultOf } from '../../facts/refusal.ts'
import * as member from '../../facts/row-members.ts'

/**
 * A row of the MCP registry, API v0.1 (`{server, _meta}`), of a saved file (`{server, found_at}`)
 * or a bare `server.json`. Only used fields are read; every list and text is bounded, since the row
 * is a stranger's. Entries of `remotes` and `packages` are judged one by one, so that one bad entry
 * doesn't cost the server.
 */
const MAX_ENTRIES = 100
const OFFICIAL_META = 'io.modelcontextprotocol.registry/official'

const REGISTRY_NAME = /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/

const entries = v.nullish(
  v.pipe(
    v.array(v.unknown(), 'expected a list'),
    v.maxLength(MAX_ENTRIES, `expected at most ${MAX_ENTRIES} entries`),
  ),
)

const ServerSchema = v.object({
  name: v.pipe(
    member.text,
    v.minLength(3, 'expected 3 to 200 characters'),
    v.maxLength(200, 'expected 3 to 200 characters'),
    v.regex(REGISTRY_NAME, 'expected namespace/server, such as io.github.user/weather'),
  ),
  ...member.texts('title', 'description', 'version', 'websiteUrl'),
  repository: v.nullish(v.object(member.texts('url'))),
  remotes: entries,
  packages: entries,
})

const OfficialSchema = v.object({
  status: v.optional(member.text, 'active'),
  ...member.texts('statusMessage', 'statusChangedAt'),
  publishedAt: v.optional(member.text),
  isLatest: v.optional(v.boolean()),
})

const AboutSchema = v.object({
  _meta: v.optional(v.object({ [OFFICIAL_META]: v.optional(OfficialSchema) })),
  found_at: v.optional(v.pipe(v.array(member.text), v.maxLength(MAX_ENTRIES))),
})

export type RegistryServer = v.InferOutput<typeof ServerSchema>

export interface RegistryRow {
  server: RegistryServer
  status: string
  statusMessage: string
  /** ISO 8601, or null. */
  statusChangedAt: string | null
  isLatest: boolean
  /** Day of publication, `2026-11-20`, or null where the row doesn't say. */
  published: string | null
  /** Where a saved row was found, if it says so; a row of the live API is its own source. */
  foundAt: readonly string[]
  /** The author of the words where it is not the registry. */
  told?: SourceRef
  tags?: readonly string[]
}

/** @returns the row, or what is wrong with it */
export function parseRegistryRow(
  value: unknown,
): { ok: true; row: RegistryRow } | Extract<MappedSeed, { ok: false }> {
  const isWrapped = isJsonObject(value) && isJsonObject(value.server)
  const server = parseRow(ServerSchema, isWrapped ? value.server : value, 'name')
  if (!('row' in server)) return server
  const { name } = server.row
  const about = v.safeParse(AboutSchema, isWrapped ? value : {})
  if (!about.success)
    return refuse(name, { reason: 'invalid_row', detail: describeIssue(about.issues[0], 'row') })
  const { _meta, found_at } = about.output
  const official = _meta?.[OFFICIAL_META]
  return {
    ok: true,
    row: {
      server: server.row,
      status: official?.status ?? 'active',
      statusMessage: official?.statusMessage ?? '',
      statusChangedAt: toInstant(official?.statusChangedAt),
      isLatest: official?.isLatest ?? true,
      published: toDay(official?.publishedAt),
      foundAt: found_at ?? [],
    },
  }
}

/** To the second, as evidence has times. */
function toInstant(instant: string | null | undefined): string | null {
  const time = Date.parse(instant ?? '')
  return Number.isNaN(time) ? null : new Date(time).toISOString().replace(/\.\d{3}Z$/, 'Z')
}

function toDay(instant: string | undefined): string | null {
  const [, day] = /^(\d{4}-\d{2}-\d{2})T/.exec(instant ?? '') ?? []
  return day === undefined || Number.isNaN(Date.parse(day)) ? null : day
}

export const REGISTRY_URL = 'https://registry.modelcontextprotocol.io'
export const REGISTRY_SOURCE = 'mcp_registry'

export interface SourceRef {
  source: string
  ref: string
}

/**
 * Where a row's facts come from. A row of the registry is its own entry; a saved row says where it
 * was found, and the table of sources says whose that is and whether its text may be copied.
 *
 * @returns why it is not listed, where it is gone, or none of its sources allows copying its texts
 */
export function findSource(
  { server, status, statusMessage, foundAt, told }: RegistryRow,
  sources: readonly SourceRow[],
): SourceRef | Fault {
  if (status !== 'active' && status !== 'deprecated' && status !== '') {
    const why = statusMessage === '' ? '' : `: ${statusMessage}`
    const detail = `expected status active, got ${status}${why}`
    return { reason: status === 'deleted' ? 'deleted' : 'inactive', detail }
  }
  if (told !== undefined && sources.some((row) => row.id === told.source && isUsed(row)))
    return told
  if (told === undefined && foundAt.length === 0)
    return { source: REGISTRY_SOURCE, ref: registryEntryUrl(server.name) }
  for (const ref of foundAt) {
    const [owner] = sources
      .filter(({ url }) => ref.startsWith(url))
      .sort((a, b) => b.url.length - a.url.length)
    if (owner !== undefined && isUsed(owner)) return { source: owner.id, ref }
  }
  const places = told?.ref ?? foundAt.join(', ')
  return faultOf('source_terms', `expected a source whose terms allow it, found at ${places}`)
}

function isUsed({ decision }: SourceRow): boolean {
  return decision === 'used'
}

/** @example registryEntryUrl('io.github.user/weather') → '…/v0.1/servers/io.github.user%2Fweather/versions/latest' */
function registryEntryUrl(name: string): string {
  return `${REGISTRY_URL}/v0.1/servers/${encodeURIComponent(name)}/versions/latest`
}
