import type { SourceRow } from '../../../src/domain/derived/source-table.ts'
import type { InvokeEntry } from '../../../src/domain/listing/invoke.ts'
import {
  findTextFault,
  MAX_NAME_LENGTH,
  MAX_SUMMARY_LENGTH,
} from '../../../src/domain/listing/listing-text.ts'
import {
  type UrlFault as Fault,
  findCallableUrlFault,
  type HostRules,
} from '../../facts/callable-url.ts'
import type { Refusal } from '../../facts/refusal.ts'
import { findSeedFault, type Seed, type SeedFacts } from '../../facts/seed-facts.ts'
import { cutText } from '../../text/cut-text.ts'
import { guessCategories } from '../../text/guess-categories.ts'
import { findInstruction } from '../../text/instruction-like.ts'
import { toPlainText } from '../../text/plain-text.ts'
import { mapInvoke } from './map-invoke.ts'
import type { RegistryRow, RegistryServer } from './registry-row.ts'
import { registrySlug } from './registry-slug.ts'
import { findSource } from './registry-source.ts'

export interface MapRules extends HostRules {
  categories: ReadonlySet<string>
  sources: readonly SourceRow[]
}

export type MappedServer =
  | { ok: true; seed: Seed; dropped: Refusal[] }
  | { ok: false; refusal: Refusal }

/** A registry row as a listing, or the first reason it can't be one. */
export function mapServer(row: RegistryRow, rules: MapRules): MappedServer {
  const { server } = row
  const facts = mapFacts(row, rules)
  if ('reason' in facts) return { ok: false, refusal: { ...facts, name: server.name } }
  const { dropped, ...listed } = facts
  const seed: Seed = {
    key: server.name,
    prefix: 'mcp',
    slug: registrySlug(server.name),
    published: row.published,
    facts: listed,
  }
  const fault = findSeedFault(seed)
  return fault === null
    ? { ok: true, seed, dropped: dropped.map((left) => ({ ...left, name: server.name })) }
    : { ok: false, refusal: { reason: 'invalid_listing', name: server.name, detail: fault } }
}

function mapFacts(row: RegistryRow, rules: MapRules): (SeedFacts & { dropped: Fault[] }) | Fault {
  const { server, status } = row
  if (status !== 'active' && status !== '')
    return { reason: status === 'deleted' ? 'deleted' : 'deprecated', detail: statusDetail(row) }
  const source = findSource(row, rules.sources)
  if (source === null)
    return {
      reason: 'source_terms',
      detail: `expected a source whose terms allow it, found at ${row.foundAt.join(', ')}`,
    }
  const texts = mapTexts(server)
  if ('reason' in texts) return texts
  const { entries, faults } = mapInvoke(server, rules)
  if (entries.length === 0)
    return {
      reason: faults[0]?.reason ?? 'no_invoke',
      detail: faults.map(({ detail }) => detail).join('; ') || 'expected a remote or a package',
    }
  const url = findPage(server, entries, rules)
  if (url === null)
    return {
      reason: 'no_url',
      detail: 'expected a websiteUrl, a repository or a package with a public page',
    }
  const { name, summary, description } = texts
  const categories = guessCategories(name, description, rules.categories)
  return {
    name,
    kind: 'mcp_server',
    url,
    summary,
    categories,
    invoke: entries,
    sources: [source],
    dropped: faults,
  }
}

function statusDetail({ status, statusMessage }: RegistryRow): string {
  return `expected status active, got ${status}${statusMessage === '' ? '' : `: ${statusMessage}`}`
}

type Texts = { name: string; summary: string; description: string }

function mapTexts(server: RegistryServer): Texts | Fault {
  const title = toPlainText(server.title ?? '')
  const name = cutText(title === '' ? (server.name.split('/')[1] ?? '') : title, MAX_NAME_LENGTH)
  if (!/[\p{L}\p{N}]/u.test(name)) return { reason: 'no_name', detail: 'expected a readable title' }
  const description = toPlainText(server.description ?? '')
  if (!/[\p{L}\p{N}]/u.test(description))
    return { reason: 'no_description', detail: 'expected a sentence in description' }
  const summary = cutText(description, MAX_SUMMARY_LENGTH)
  for (const [field, text] of [['title', name] as const, ['description', summary] as const]) {
    const fault = findTextFault(text)
    if (fault !== null) return { reason: 'misleading_text', detail: `${field}: ${fault}` }
  }
  const order = findInstruction(`${server.title ?? ''} ${server.description ?? ''}`)
  if (order !== null)
    return {
      reason: 'instruction_like_text',
      detail: `expected a description, got ${JSON.stringify(order)}`,
    }
  return { name, summary, description }
}

/** Website, else repository, else a remote's own address, else the package's page. */
function findPage(
  server: RegistryServer,
  entries: readonly InvokeEntry[],
  rules: HostRules,
): string | null {
  const candidates = [
    server.websiteUrl,
    server.repository?.url,
    ...entries.map((entry) => (entry.kind === 'mcp' ? entry.url : packagePage(entry))),
  ]
  for (const candidate of candidates) {
    const url = candidate === undefined || candidate === null ? '' : tidyUrl(candidate)
    if (url !== '' && findCallableUrlFault(url, rules) === null) return url
  }
  return null
}

/** @example tidyUrl('git+https://github.com/user/weather.git') → 'https://github.com/user/weather' */
function tidyUrl(text: string): string {
  return text
    .trim()
    .replace(/^git\+/, '')
    .replace(/^git@github\.com:/, 'https://github.com/')
    .replace(/^http:\/\/(?=(?:www\.)?(?:github|gitlab)\.com\/)/, 'https://')
    .replace(/^(https:\/\/(?:github|gitlab)\.com\/[^?#]+?)\.git$/, '$1')
}

function packagePage(entry: Extract<InvokeEntry, { kind: 'mcp_package' }>): string {
  const { registry, identifier } = entry
  switch (registry) {
    case 'npm':
      return `https://www.npmjs.com/package/${identifier}`
    case 'pypi':
      return `https://pypi.org/project/${identifier}/`
    case 'nuget':
      return `https://www.nuget.org/packages/${identifier}`
    case 'mcpb':
      return identifier
    case 'oci':
      return imagePage(identifier)
  }
}

function imagePage(image: string): string {
  const [first = '', ...path] = image.split('/')
  if (path.length > 0 && first.includes('.')) return `https://${image}`
  return path.length === 0
    ? `https://hub.docker.com/_/${image}`
    : `https://hub.docker.com/r/${image}`
}
