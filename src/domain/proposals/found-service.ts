import * as v from 'valibot'
import { toInertLine } from '../probe/read/inert-text.ts'
import { DISCOVERY_FILES, type KINDS, PROBE_PROTOCOLS } from '../wire/vocabulary.ts'

/** What may be proposed: kits are our own. */
export const PROPOSABLE_KINDS = [
  'http_api',
  'mcp_server',
  'a2a_agent',
] as const satisfies readonly (typeof KINDS)[number][]
export type ProposableKind = (typeof PROPOSABLE_KINDS)[number]

/** Bytes of what is kept of one seller; the largest parts are left out first. */
export const MAX_FOUND_BYTES = 64 * 1024

const text = v.nullable(v.string())

/** As it waits for a person. Foreign words as they came: who prints them makes them inert. */
export const FoundServiceSchema = v.object({
  url: v.string(),
  kind: v.picklist(PROPOSABLE_KINDS),
  /** When it was read, ISO 8601. */
  at: v.string(),
  /** The protocol that spoke at the address; null where none did. */
  speaks: v.nullable(v.picklist(PROBE_PROTOCOLS)),
  saw: v.string(),
  files: v.record(v.picklist(DISCOVERY_FILES), v.optional(v.string())),
  api: v.nullable(
    v.object({
      title: text,
      description: text,
      operations: v.array(v.unknown()),
      truncated: v.boolean(),
    }),
  ),
  card: v.nullable(v.record(v.string(), v.unknown())),
  /** First heading of its llms.txt. */
  title: text,
  server: v.nullable(v.object({ name: v.string(), version: v.string() })),
  tools: v.array(v.object({ name: v.string(), description: v.string() })),
  /** What one call costs, as its 402 said. */
  terms: v.array(v.object({ rail: v.string(), network: text, usd: v.nullable(v.number()) })),
})
export type FoundService = v.InferOutput<typeof FoundServiceSchema>

/** Of an address that nobody asked: a listing somebody wants corrected. */
export function toFoundNothing(head: Pick<FoundService, 'url' | 'kind' | 'at'>): FoundService {
  return {
    ...head,
    speaks: null,
    saw: '',
    files: {},
    api: null,
    card: null,
    title: null,
    server: null,
    tools: [],
    terms: [],
  }
}

const MAX_SHOWN = 300

/** What was found, in short: for the one who proposed it. */
export const FoundSchema = v.object({
  kind: v.picklist(PROPOSABLE_KINDS),
  speaks: v.nullable(v.picklist(PROBE_PROTOCOLS)),
  saw: v.string(),
  name: text,
  description: text,
  files: v.record(v.string(), v.optional(v.string())),
  operations: v.number(),
  tools: v.number(),
  skills: v.number(),
})
export type FoundView = v.InferOutput<typeof FoundSchema>

export function toFoundView(found: FoundService): FoundView {
  const { api, card, title, server, tools } = found
  const shown = (texts: readonly unknown[]) => {
    const first = texts.find((each) => typeof each === 'string' && each.trim() !== '')
    return typeof first === 'string' ? toInertLine(first, MAX_SHOWN) : null
  }
  return {
    kind: found.kind,
    speaks: found.speaks,
    saw: toInertLine(found.saw, MAX_SHOWN),
    name: shown([card?.name, server?.name, api?.title, title]),
    description: shown([card?.description, api?.description]),
    files: found.files,
    operations: api?.operations.length ?? 0,
    tools: tools.length,
    skills: Array.isArray(card?.skills) ? card.skills.length : 0,
  }
}

/** True where there is something to make a listing of beside its address. */
export function hasFound({ speaks, files, api, card, title }: FoundService): boolean {
  return (
    (speaks !== null && speaks !== 'http') ||
    api !== null ||
    card !== null ||
    title !== null ||
    Object.keys(files).length > 0
  )
}
