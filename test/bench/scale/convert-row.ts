import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { stringify } from 'yaml'
import { findCallableUrlFault } from '../../../seeds/facts/callable-url.ts'
import type { Refusal, RefusalReason, Fault as UrlFault } from '../../../seeds/facts/refusal.ts'
import { mapInvoke } from '../../../seeds/sources/mcp-registry/map-invoke.ts'
import { guessCategories } from '../../../seeds/text/guess-categories.ts'
import { toPlainText } from '../../../seeds/text/plain-text.ts'
import { cutText } from '../../../src/domain/derived/cut-text.ts'
import { createListingFactsSchema } from '../../../src/domain/listing/listing-facts.ts'
import { findTextFault } from '../../../src/domain/listing/listing-text.ts'
import type { Pricing } from '../../../src/domain/listing/pricing.ts'
import { DISCOVERY_FILES, HTTP_METHODS, RAILS } from '../../../src/domain/wire/vocabulary.ts'
import { isListedNetwork, isTestNetwork, pricingOfAccepts } from './price-of-accepts.ts'
import { type ScaleRow, ScaleRowSchema } from './scale-row.ts'

const PUBLIC = { allowPlaceholders: false }
const schema = createListingFactsSchema({ allowPrivate: false })
const MAX_TAGS = 10

export type ConvertedRow =
  | { ok: true; file: string; text: string; sources: readonly string[] }
  | { ok: false; refusal: Refusal }

/** One row as one content file, its description kept whole under the front matter. */
export function convertRow(value: unknown, categories: ReadonlySet<string>): ConvertedRow {
  const parsed = v.safeParse(ScaleRowSchema, value)
  if (!parsed.success) {
    const [issue] = parsed.issues
    return refuse('invalid_row', '(no name)', `${v.getDotPath(issue) ?? 'row'}: ${issue.message}`)
  }
  const row = parsed.output
  const name = cutText(toPlainText(row.title || row.name || ''), 80)
  if (!/[\p{L}\p{N}]/u.test(name))
    return refuse('no_name', row.url ?? '(no name)', 'expected a name')
  const facts = toFacts(row, name, categories)
  if ('reason' in facts) return refuse(facts.reason, name, facts.detail)
  const checked = v.safeParse(schema, facts)
  if (!checked.success) {
    const [issue] = checked.issues
    return refuse('invalid_listing', name, `${v.getDotPath(issue) ?? ''}: ${issue.message}`)
  }
  const prefix = row.kind === 'mcp_server' ? 'mcp' : row.kind === 'a2a_agent' ? 'a2a' : 'x402'
  return {
    ok: true,
    file: `listings/${prefix}/${toSlug(row, name)}.md`,
    text: `---\n${stringify(facts, { lineWidth: 0, version: '1.2' })}---\n\n${toBody(row)}\n`,
    sources: facts.sources.map(({ source }) => source),
  }
}

type Fault = Pick<Refusal, 'reason' | 'detail'>

function toFacts(
  row: ScaleRow,
  name: string,
  categories: ReadonlySet<string>,
): v.InferInput<typeof schema> | Fault {
  const url = findPage(row)
  if ('reason' in url) return url
  const pricing = toPricing(row)
  if ('reason' in pricing) return pricing
  const summary = toSummary(row)
  const fault = findTextFault(name) ?? (summary === null ? null : findTextFault(summary))
  if (summary === null) return { reason: 'no_description', detail: 'expected text' }
  if (fault !== null) return { reason: 'misleading_text', detail: fault }
  const method = HTTP_METHODS.find((known) => known === row.method)
  return {
    name,
    kind: row.kind,
    url: url.href,
    summary,
    categories: guessCategories(name, summary, categories),
    tags: toTags(row),
    pricing,
    ...(row.kind === 'http_api' && method !== undefined
      ? { http: [{ method, url: url.href }] }
      : {}),
    ...(row.kind === 'mcp_server' ? { invoke: toInvoke(row) } : {}),
    discovery: toDiscovery(row),
    sources: toSources(row),
    added: /^\d{4}-\d\d-\d\d/.exec(row.updated ?? '')?.[0] ?? '2026-11-20',
  }
}

function findPage(row: ScaleRow): { href: string } | UrlFault {
  const candidates = [row.url, row.repository].filter((url) => url !== null && url !== '')
  const faults: UrlFault[] = []
  for (const href of candidates) {
    const fault = findCallableUrlFault(href ?? '', PUBLIC)
    if (fault === null) return { href: href ?? '' }
    faults.push(fault)
  }
  return faults[0] ?? { reason: 'no_url', detail: 'expected a URL' }
}

function toPricing(row: ScaleRow): Pricing | Fault {
  if (row.kind !== 'http_api') return { model: 'unknown' }
  const rails = RAILS.filter((rail) => row.rails.includes(rail))
  const networks = [...new Set(row.networks.filter(isListedNetwork))]
  if (networks.length === 0 && row.networks.length > 0)
    return row.networks.every(isTestNetwork)
      ? { reason: 'test_network', detail: row.networks.join(', ') }
      : { reason: 'unsupported_network', detail: row.networks.join(', ') }
  const accepted = pricingOfAccepts(row.accepts)
  if (accepted !== null) return accepted
  if (row.accepts.length > 0)
    return { reason: 'unsupported_price', detail: 'expected an exact amount of a known asset' }
  const { model, min_usd, max_usd } = row.price ?? { model: 'unknown' }
  if (model !== 'per_call' || typeof min_usd !== 'number' || typeof max_usd !== 'number')
    return { model: 'unknown' }
  return rails.length === 0
    ? { reason: 'unsupported_price', detail: `expected a rail, got ${row.rails.join(', ')}` }
    : { model: 'per_call', min_usd, max_usd, rails, networks }
}

/** What a priced endpoint without words is can be said from its address and method. */
function toSummary(row: ScaleRow): string | null {
  const plain = toPlainText(row.description ?? '')
  if (/[\p{L}\p{N}]/u.test(plain)) return cutText(plain, 200)
  const url = URL.parse(row.url ?? '')
  if (row.kind !== 'http_api' || url === null) return null
  return cutText(`${row.method || 'HTTP'} endpoint at ${url.host}${url.pathname}.`, 200)
}

function toTags(row: ScaleRow): string[] {
  const tags = row.tags.map((tag) => toPlainText(tag).toLowerCase())
  return [...new Set(tags)]
    .filter((tag) => tag !== '' && tag.length <= 60 && findTextFault(tag) === null)
    .slice(0, MAX_TAGS)
}

function toInvoke({ remotes, packages }: ScaleRow) {
  const { entries } = mapInvoke(
    {
      name: 'scale/row',
      remotes,
      packages: packages.map(({ registry, identifier, transport }) => ({
        registryType: registry,
        identifier,
        transport: { type: transport ?? 'stdio' },
      })),
    },
    PUBLIC,
  )
  return entries
}

function toDiscovery({ discovery }: ScaleRow): Record<string, string> {
  const files = DISCOVERY_FILES.flatMap((key) => {
    const url = discovery[key]
    return typeof url === 'string' && findCallableUrlFault(url, PUBLIC) === null ? [[key, url]] : []
  })
  return Object.fromEntries(files)
}

function toSources({ sources }: ScaleRow) {
  return sources.slice(0, 20).map(({ source, ref }) => ({
    source,
    ref: /^https:\/\/\S+/.exec(ref ?? '')?.[0] ?? 'https://github.com/',
  }))
}

/** Foreign Markdown as it stands, less what no text file should hold. */
function toBody({ description }: ScaleRow): string {
  return (description ?? '').toWellFormed().replaceAll(/[\0\ufffd\ufeff]/g, '')
}

function toSlug(row: ScaleRow, name: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '')
  const identity = JSON.stringify([row.kind, row.name, row.url, row.method, row.sources])
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, 10)
  return words === '' ? hash : `${words}-${hash}`
}

function refuse(reason: RefusalReason, name: string, detail: string): ConvertedRow {
  return { ok: false, refusal: { reason, name, detail } }
}
