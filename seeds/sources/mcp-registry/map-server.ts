import * as v from 'valibot'
import type { InvokeEntry } from '../../../src/domain/listing/invoke.ts'
import { RegistryNameSchema, VersionSchema } from '../../../src/domain/listing/listing-facts.ts'
import {
  type UrlFault as Fault,
  findCallableUrlFault,
  type HostRules,
} from '../../facts/callable-url.ts'
import { finishSeed, type MappedSeed } from '../../facts/finish-seed.ts'
import type { Seed, SeedFacts } from '../../facts/seed-facts.ts'
import type { MapRules } from '../../facts/seed-source.ts'
import { toSeedTexts } from '../../facts/seed-texts.ts'
import { guessCategories } from '../../text/guess-categories.ts'
import { toPlainText } from '../../text/plain-text.ts'
import { mapInvoke } from './map-invoke.ts'
import { authOf } from './map-settings.ts'
import type { RegistryRow, RegistryServer } from './registry-row.ts'
import { registrySlug } from './registry-slug.ts'
import { findSource, REGISTRY_SOURCE, type SourceRef } from './registry-source.ts'

/** A registry row as a listing, or the first reason it can't be one. */
export function mapServer(row: RegistryRow, rules: MapRules): MappedSeed {
  const { server } = row
  const facts = mapFacts(row, rules)
  if ('reason' in facts) return { ok: false, refusal: { ...facts, name: server.name } }
  const { dropped, suspicious, ...listed } = facts
  const seed: Seed = {
    key: server.name,
    prefix: 'mcp',
    slug: registrySlug(server.name),
    published: row.published,
    rows: 1,
    facts: listed,
    suspicious,
  }
  return finishSeed(
    seed,
    dropped.map((left) => ({ ...left, name: server.name })),
  )
}

/** A title that is there stands, even when nothing in it can be read: it is what the seller wants. */
function nameOf({ title, name }: RegistryServer): string {
  return toPlainText(title ?? '') === '' ? (name.split('/')[1] ?? '') : (title ?? '')
}

type Mapped = SeedFacts & { dropped: Fault[]; suspicious?: string | undefined }

function mapFacts(row: RegistryRow, rules: MapRules): Mapped | Fault {
  const { server, status } = row
  if (status !== 'active' && status !== '')
    return { reason: status === 'deleted' ? 'deleted' : 'deprecated', detail: statusDetail(row) }
  const source = findSource(row, rules.sources)
  if (source === null)
    return {
      reason: 'source_terms',
      detail: `expected a source whose terms allow it, found at ${row.foundAt.join(', ')}`,
    }
  const texts = toSeedTexts([nameOf(server)], [server.description])
  if ('reason' in texts) return texts
  const callable = mapCallable(server, rules)
  if ('reason' in callable) return callable
  const { name, summary, description, suspicious } = texts
  const { url, entries, faults } = callable
  const auth = authOf(entries)
  return {
    name,
    kind: 'mcp_server',
    url,
    summary,
    categories: guessCategories(name, description, rules.categories),
    ...(auth !== null && { auth }),
    invoke: entries,
    ...registryFacts(server, source),
    sources: [source],
    dropped: faults,
    suspicious,
  }
}

interface Callable {
  url: string
  entries: InvokeEntry[]
  faults: Fault[]
}

/** Its endpoints, and a page about it; both are needed. */
function mapCallable(server: RegistryServer, rules: HostRules): Callable | Fault {
  const { entries, faults } = mapInvoke(server, rules)
  if (entries.length === 0)
    return {
      reason: faults[0]?.reason ?? 'no_invoke',
      detail: faults.map(({ detail }) => detail).join('; ') || 'expected a remote or a package',
    }
  const url = findPage(server, entries, rules)
  return url === null
    ? {
        reason: 'no_url',
        detail: 'expected a websiteUrl, a repository or a package with a public page',
      }
    : { url, entries, faults }
}

/** A name and a version are the registry's where the row is its own; elsewhere they may be made up. */
function registryFacts(
  { name, version }: RegistryServer,
  { source }: SourceRef,
): Pick<SeedFacts, 'registry_name' | 'version'> {
  if (source !== REGISTRY_SOURCE) return {}
  return {
    ...(v.is(RegistryNameSchema, name) && { registry_name: name }),
    ...(v.is(VersionSchema, version) && { version }),
  }
}

function statusDetail({ status, statusMessage }: RegistryRow): string {
  return `expected status active, got ${status}${statusMessage === '' ? '' : `: ${statusMessage}`}`
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
