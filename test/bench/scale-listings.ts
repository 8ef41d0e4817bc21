import { join } from 'node:path'
import * as v from 'valibot'
import { DISCOVERY_FILES, type DiscoveryFile, RAILS } from '../../src/domain/wire/vocabulary.ts'
import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { domainFact } from '../support/shared-hosts.ts'
import { sampleSummary } from './sample-summary.ts'
import { createRandom, type SeededRandom } from './seeded-random.ts'
import { readJsonLines } from './shared-data.ts'

const FILES = ['merged_mcp.jsonl', 'merged_paid.jsonl', 'merged_a2a.jsonl']
const MAX_SUMMARY = 200
const CATEGORIES = 24

const RowSchema = v.object({
  kind: v.picklist(['http_api', 'mcp_server', 'a2a_agent']),
  name: v.optional(
    v.pipe(
      v.string(),
      v.transform((name) => name.slice(0, 80)),
    ),
    'Unnamed',
  ),
  description: v.optional(v.string(), ''),
  url: v.optional(v.string(), ''),
  tags: v.optional(v.array(v.string()), []),
  categories: v.optional(v.array(v.string()), []),
  rails: v.optional(v.array(v.picklist(RAILS)), []),
  price: v.optional(v.object({ min_usd: v.optional(v.nullable(v.number())) })),
  remotes: v.optional(v.array(v.unknown()), []),
  discovery: v.optional(v.record(v.string(), v.unknown()), {}),
  sources: v.optional(v.array(v.object({ source: v.string() })), []),
})

/**
 * All real listings at scale as search documents. Trust is made up (one in eight has a score):
 * the sources carry none that was verified, and the bench needs the multipliers to do work.
 */
export function readScaleListings(sharedDir: string): SearchDocument[] {
  const random = createRandom(402)
  const taken = new Map<string, number>()
  return FILES.flatMap((file) => readJsonLines(join(sharedDir, 'data/scale', file))).map((line) =>
    toDocument(v.parse(RowSchema, line), taken, random),
  )
}

function toDocument(
  row: v.InferOutput<typeof RowSchema>,
  taken: Map<string, number>,
  random: SeededRandom,
): SearchDocument {
  const trusted = random.next() < 1 / 8
  const document = {
    id: freeId(row, taken),
    name: row.name,
    kind: row.kind,
    summary: row.description.slice(0, MAX_SUMMARY),
    url: row.url,
    ...domainFact(row.url),
    tags: row.tags,
    categories: [...new Set(row.categories.map(toCategory))],
    rails: row.rails,
    sources: [...new Set(row.sources.map(({ source }) => source))],
    has: DISCOVERY_FILES.filter((file: DiscoveryFile) => Object.hasOwn(row.discovery, file)),
    minUsd: row.price?.min_usd ?? null,
    maxUsd: row.price?.min_usd ?? null,
    auth: 'unknown' as const,
    runs:
      row.remotes.length > 0 || row.kind !== 'mcp_server'
        ? ['remote' as const]
        : ['local' as const],
    networks: [],
    call: row.rails.includes('x402'),
    added: null,
    trustScore: trusted ? random.below(101) : null,
    verifiedBuyers: trusted ? random.below(50) : 0,
    liveTested: random.next() < 0.05,
    remote: row.kind !== 'mcp_server' || row.remotes.length > 0,
    firstParty: false,
  }
  return { ...document, body: sampleSummary(document) }
}

/** The sources name hundreds of categories; a directory has a table of some two dozen. */
function toCategory(label: string): string {
  const sum = [...label].reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0)
  return `category_${sum % CATEGORIES}`
}

function freeId(
  { kind, rails, name }: v.InferOutput<typeof RowSchema>,
  taken: Map<string, number>,
) {
  const prefix = {
    http_api: rails.length > 0 ? 'x402' : 'api',
    mcp_server: 'mcp',
    a2a_agent: 'a2a',
  }
  const id = `${prefix[kind]}.${toSlug(name) || 'listing'}`
  const count = (taken.get(id) ?? 0) + 1
  taken.set(id, count)
  return count === 1 ? id : `${id}-n${count}`
}

export function toSlug(text: string): string {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return words.join('-').slice(0, 90).replace(/-$/, '')
}
