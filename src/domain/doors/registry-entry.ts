import * as v from 'valibot'
import { cutText } from '../derived/cut-text.ts'
import type { DerivedListing } from '../derived/derived-listing.ts'
import { trustScoreOf } from '../derived/derived-listing.ts'
import type { InvokeEntry } from '../listing/invoke.ts'
import { listingPath } from '../wire/links.ts'
import { toMetaKey, toReverseHost, toSlug } from './own-names.ts'

/** The registry's own bounds (its API of 2025-12-01). */
const MOST_DESCRIPTION = 100
const MOST_TITLE = 100
/** What stands where the seller's version is unknown: the registry's shape demands one. */
export const UNKNOWN_VERSION = '0.0.0'

/** One server as the registry door serves it, and what it is found by. A row of the release. */
export const RegistryRowSchema = v.strictObject({
  id: v.string(),
  name: v.string(),
  version: v.string(),
  /** Day it was added here, the only change of it we can date. */
  added: v.string(),
  entry: v.looseObject({ server: v.looseObject({}), _meta: v.looseObject({}) }),
})
export type RegistryRow = v.InferOutput<typeof RegistryRowSchema>

/** The listed MCP servers in the registry's shape, by name; of two with one name the first by id. */
export function toRegistryRows(
  listings: readonly DerivedListing[],
  baseUrl: string,
): RegistryRow[] {
  const rows = new Map<string, RegistryRow>()
  for (const listing of listings) {
    if (listing.facts.kind !== 'mcp_server') continue
    const row = toRegistryRow(listing, baseUrl)
    if (!rows.has(row.name)) rows.set(row.name, row)
  }
  return [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function toRegistryRow(listing: DerivedListing, baseUrl: string): RegistryRow {
  const { id, facts, trust, status } = listing
  const name = facts.registry_name ?? `${toReverseHost(baseUrl)}/${toSlug(id)}`
  const version = facts.version ?? UNKNOWN_VERSION
  const remotes = facts.invoke.flatMap(toRemote)
  const packages = facts.invoke.flatMap(toPackage)
  return {
    id,
    name,
    version,
    added: facts.added,
    entry: {
      server: {
        name,
        description: cutText(facts.summary, MOST_DESCRIPTION),
        title: cutText(facts.name, MOST_TITLE),
        version,
        websiteUrl: facts.url,
        ...(remotes.length > 0 && { remotes }),
        ...(packages.length > 0 && { packages }),
      },
      _meta: {
        [toMetaKey(baseUrl)]: {
          id,
          listing: `${baseUrl}${listingPath(id)}`,
          status,
          version_known: facts.version !== undefined,
          trust: { score: trustScoreOf(trust), evidence: trust.evidence },
        },
      },
    },
  }
}

type Setting = {
  name: string
  description?: string | undefined
  required?: boolean | undefined
  secret?: boolean | undefined
}

function toRemote(entry: InvokeEntry): object[] {
  if (entry.kind !== 'mcp') return []
  const { transport: type, url, headers } = entry
  return [{ type, url, ...(headers !== undefined && { headers: headers.map(toInput) }) }]
}

function toPackage(entry: InvokeEntry): object[] {
  if (entry.kind !== 'mcp_package') return []
  const { registry: registryType, identifier, transport, env, args } = entry
  return [
    {
      registryType,
      identifier,
      transport: { type: transport },
      ...(env !== undefined && { environmentVariables: env.map(toInput) }),
      ...(args !== undefined && {
        packageArguments: args.map((value) => ({ type: 'positional', value })),
      }),
    },
  ]
}

function toInput({ name, description, required = false, secret = false }: Setting): object {
  return {
    name,
    ...(description !== undefined && { description }),
    isRequired: required,
    isSecret: secret,
  }
}
