import * as v from 'valibot'
import { isJsonObject } from '../../../src/domain/wire/parse-json.ts'

/**
 * A row of the MCP registry, API v0.1 (`{server, _meta}`), of a saved file (`{server, found_at}`)
 * or a bare `server.json`. Only what is used is read; every list and text is bounded, since the row
 * is a stranger's. Entries of `remotes` and `packages` are judged one by one, so that one bad entry
 * doesn't cost the server.
 */
const MAX_TEXT = 20_000
const MAX_ENTRIES = 100
const OFFICIAL_META = 'io.modelcontextprotocol.registry/official'

export const REGISTRY_NAME = /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/

const text = v.pipe(
  v.string('expected text'),
  v.maxLength(MAX_TEXT, `expected at most ${MAX_TEXT} characters`),
)
const entries = v.optional(
  v.nullable(
    v.pipe(
      v.array(v.unknown(), 'expected a list'),
      v.maxLength(MAX_ENTRIES, `expected at most ${MAX_ENTRIES} entries`),
    ),
  ),
)

const ServerSchema = v.object({
  name: v.pipe(
    text,
    v.minLength(3, 'expected 3 to 200 characters'),
    v.maxLength(200, 'expected 3 to 200 characters'),
    v.regex(REGISTRY_NAME, 'expected namespace/server, such as io.github.user/weather'),
  ),
  title: v.optional(v.nullable(text)),
  description: v.optional(v.nullable(text)),
  version: v.optional(v.nullable(text)),
  websiteUrl: v.optional(v.nullable(text)),
  repository: v.optional(v.nullable(v.object({ url: v.optional(v.nullable(text)) }))),
  remotes: entries,
  packages: entries,
})

const OfficialSchema = v.object({
  status: v.optional(text, 'active'),
  statusMessage: v.optional(v.nullable(text)),
  publishedAt: v.optional(text),
  isLatest: v.optional(v.boolean()),
})

const WrappedSchema = v.object({
  server: ServerSchema,
  _meta: v.optional(v.object({ [OFFICIAL_META]: v.optional(OfficialSchema) })),
  found_at: v.optional(v.pipe(v.array(text), v.maxLength(MAX_ENTRIES))),
})

export type RegistryServer = v.InferOutput<typeof ServerSchema>

export interface RegistryRow {
  server: RegistryServer
  status: string
  statusMessage: string
  isLatest: boolean
  /** Day of publication, `2026-11-20`, or null where the row doesn't tell. */
  published: string | null
  /** Where a saved row was found, if it says; a row of the live API is its own source. */
  foundAt: readonly string[]
}

export type ParsedRow = { ok: true; row: RegistryRow } | { ok: false; name: string; detail: string }

export function parseRegistryRow(value: unknown): ParsedRow {
  const wrapped = isJsonObject(value) && isJsonObject(value.server) ? value : { server: value }
  const result = v.safeParse(WrappedSchema, wrapped)
  if (!result.success) return { ok: false, ...describeFault(wrapped, result.issues[0]) }
  const { server, _meta, found_at } = result.output
  const official = _meta?.[OFFICIAL_META]
  return {
    ok: true,
    row: {
      server,
      status: official?.status ?? 'active',
      statusMessage: official?.statusMessage ?? '',
      isLatest: official?.isLatest ?? true,
      published: toDay(official?.publishedAt),
      foundAt: found_at ?? [],
    },
  }
}

function describeFault(wrapped: Record<string, unknown>, issue: v.BaseIssue<unknown>) {
  const server = wrapped.server
  const name = isJsonObject(server) && typeof server.name === 'string' ? server.name : '(no name)'
  return { name: name.slice(0, 250), detail: `${v.getDotPath(issue) ?? 'row'}: ${issue.message}` }
}

function toDay(instant: string | undefined): string | null {
  const match = /^(\d{4}-\d{2}-\d{2})T/.exec(instant ?? '')
  if (match?.[1] === undefined || Number.isNaN(Date.parse(match[1]))) return null
  return match[1]
}
