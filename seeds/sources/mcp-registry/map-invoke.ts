import * as v from 'valibot'
import { findIdentifierFault, type InvokeEntry } from '../../../src/domain/listing/invoke.ts'
import {
  PACKAGE_REGISTRIES,
  PACKAGE_TRANSPORTS,
  REMOTE_TRANSPORTS,
} from '../../../src/domain/wire/vocabulary.ts'
import { findCallableUrlFault, type HostRules, type UrlFault } from '../../facts/callable-url.ts'
import { toArgs, toEnv, toHeaders } from './map-settings.ts'
import type { RegistryServer } from './registry-row.ts'

const MAX_ENTRIES = 20
const MAX_IDENTIFIER = 214

const RemoteSchema = v.object({
  type: v.string(),
  url: v.string(),
  headers: v.optional(v.unknown()),
})
const PackageSchema = v.object({
  registryType: v.string(),
  identifier: v.string(),
  version: v.optional(v.nullable(v.string())),
  transport: v.optional(v.object({ type: v.string() })),
  environmentVariables: v.optional(v.unknown()),
  packageArguments: v.optional(v.unknown()),
})

export interface MappedInvoke {
  entries: InvokeEntry[]
  /** What was left out and why, in the server's order. */
  faults: UrlFault[]
}

type Mapped = InvokeEntry | UrlFault

/** Remotes first: what can be called at once comes before what must be installed. */
export function mapInvoke(server: RegistryServer, rules: HostRules): MappedInvoke {
  const mapped = [
    ...(server.remotes ?? []).map((value) => mapRemote(value, rules)),
    ...(server.packages ?? []).map((value) => mapPackage(value, rules)),
  ]
  const entries = new Map<string, InvokeEntry>()
  const faults: UrlFault[] = []
  for (const item of mapped) {
    if ('reason' in item) faults.push(item)
    // One endpoint is one entry: the first says what it needs.
    else if (!entries.has(keyOf(item))) entries.set(keyOf(item), item)
  }
  return { entries: [...entries.values()].slice(0, MAX_ENTRIES), faults }
}

function mapRemote(value: unknown, rules: HostRules): Mapped {
  const result = v.safeParse(RemoteSchema, value)
  if (!result.success) return shapeFault('remote', result.issues[0])
  const { type, url, headers } = result.output
  const transport = REMOTE_TRANSPORTS.find((known) => known === type)
  if (transport === undefined) return transportFault(type, REMOTE_TRANSPORTS)
  const needed = toHeaders(headers)
  return (
    findCallableUrlFault(url, rules) ?? {
      kind: 'mcp',
      transport,
      url,
      ...(needed.length > 0 && { headers: needed }),
    }
  )
}

function mapPackage(value: unknown, rules: HostRules): Mapped {
  const result = v.safeParse(PackageSchema, value)
  if (!result.success) return shapeFault('package', result.issues[0])
  const registry = PACKAGE_REGISTRIES.find((known) => known === result.output.registryType)
  if (registry === undefined)
    return {
      reason: 'unknown_registry',
      detail: `expected one of ${PACKAGE_REGISTRIES.join(', ')}, got ${quote(result.output.registryType)}`,
    }
  const type = result.output.transport?.type ?? 'stdio'
  const transport = PACKAGE_TRANSPORTS.find((known) => known === type)
  if (transport === undefined) return transportFault(type, PACKAGE_TRANSPORTS)
  const identifier = normalizeIdentifier(registry, result.output.identifier)
  const fault = findPackageFault(registry, identifier, rules)
  const env = toEnv(result.output.environmentVariables)
  const args = toArgs(result.output.packageArguments)
  return (
    fault ?? {
      kind: 'mcp_package',
      transport,
      registry,
      identifier,
      ...(env.length > 0 && { env }),
      ...(args.length > 0 && { args }),
    }
  )
}

function keyOf(entry: InvokeEntry): string {
  const where = entry.kind === 'mcp' ? entry.url : `${entry.registry} ${entry.identifier}`
  return `${entry.transport} ${where}`
}

/**
 * A listing names a package, not one version of it. An image's digest and tag go too, since the
 * newest row would otherwise change the listing with every release.
 *
 * @example normalizeIdentifier('npm', '@scope/name@1.2.3') → '@scope/name'
 */
export function normalizeIdentifier(
  registry: (typeof PACKAGE_REGISTRIES)[number],
  identifier: string,
): string {
  const trimmed = identifier.trim()
  switch (registry) {
    case 'npm':
      return trimmed.replace(/^(.+)@[^@/]*$/, '$1')
    case 'pypi':
      return trimmed.replace(/\[[^\]]*\]/, '').replace(/\s*(?:[=<>~!]=?|@).*$/, '')
    case 'oci':
      return trimmed
        .replace(/^(?:https?|docker|oci):\/\//, '')
        .replace(/^docker\.io\/(?:library\/)?/, '')
        .replace(/@sha256:[0-9a-f]+$/, '')
        .replace(/:[\w.-]+$/, '')
    case 'nuget':
      return trimmed.replace(/@.*$/, '')
    case 'mcpb':
      return trimmed
  }
}

function findPackageFault(
  registry: (typeof PACKAGE_REGISTRIES)[number],
  identifier: string,
  rules: HostRules,
): UrlFault | null {
  if (registry === 'mcpb') return findCallableUrlFault(identifier, rules)
  if (identifier.length > MAX_IDENTIFIER)
    return {
      reason: 'invalid_identifier',
      detail: `expected at most ${MAX_IDENTIFIER} characters, got ${identifier.length}`,
    }
  const fault = findIdentifierFault(registry, identifier)
  return fault === null ? null : { reason: 'invalid_identifier', detail: fault }
}

function transportFault(type: string, known: readonly string[]): UrlFault {
  return {
    reason: 'unknown_transport',
    detail: `expected ${known.join(' or ')}, got ${quote(type)}`,
  }
}

function shapeFault(what: string, issue: v.BaseIssue<unknown>): UrlFault {
  return {
    reason: 'invalid_row',
    detail: `${what} ${v.getDotPath(issue) ?? ''}: ${issue.message}`,
  }
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100))
}
