import * as v from 'valibot'
import {
  findIdentifierFault,
  type InvokeEntry,
  type PackageRegistry,
  sampleAddress,
} from '../../../src/domain/listing/invoke.ts'
import { eachOnce } from '../../../src/domain/listing/offers.ts'
import {
  PACKAGE_REGISTRIES,
  PACKAGE_TRANSPORTS,
  REMOTE_TRANSPORTS,
} from '../../../src/domain/wire/vocabulary.ts'
import { findCallableUrlFault, type HostRules } from '../../facts/callable-url.ts'
import { type Fault, faultOf } from '../../facts/refusal.ts'
import { toArgs, toEnv, toHeaders, toVariables } from './map-settings.ts'
import type { RegistryServer } from './registry-row.ts'

const MAX_ENTRIES = 20

const RemoteSchema = v.object({
  type: oneOf(REMOTE_TRANSPORTS),
  url: v.string(),
  variables: v.optional(v.unknown()),
  headers: v.optional(v.unknown()),
})
const PackageSchema = v.object({
  registryType: oneOf(PACKAGE_REGISTRIES),
  identifier: v.string(),
  version: v.nullish(v.string()),
  transport: v.optional(v.object({ type: oneOf(PACKAGE_TRANSPORTS) })),
  environmentVariables: v.optional(v.unknown()),
  packageArguments: v.optional(v.unknown()),
})

function oneOf<const Words extends readonly string[]>(words: Words) {
  return v.picklist(
    words,
    ({ input }) =>
      `expected ${words.join(' or ')}, got ${String(JSON.stringify(input)).slice(0, 100)}`,
  )
}

/** Fields with closed lists of values; any other error of an entry is its shape. */
const REASONS: Readonly<Record<string, Fault['reason']>> = {
  type: 'unknown_transport',
  'transport.type': 'unknown_transport',
  registryType: 'unknown_registry',
}

type Mapped = InvokeEntry | Fault

/**
 * Remotes first: what can be called at once comes before what must be installed. `faults` say what
 * was left out and why, in the server's order.
 */
export function mapInvoke(server: RegistryServer, rules: HostRules) {
  const mapped = [
    ...(server.remotes ?? []).map((value) => mapRemote(value, rules)),
    ...(server.packages ?? []).map((value) => mapPackage(value, rules)),
  ]
  // One endpoint is one entry: the first says what it needs.
  const entries = eachOnce(
    mapped.filter((item) => 'kind' in item),
    keyOf,
  )
  return {
    entries: entries.slice(0, MAX_ENTRIES),
    faults: mapped.filter((item) => 'reason' in item),
  }
}

function mapRemote(value: unknown, rules: HostRules): Mapped {
  const result = v.safeParse(RemoteSchema, value)
  if (!result.success) return toFault('remote', result.issues[0])
  const { type: transport, url, ...told } = result.output
  const headers = toHeaders(told.headers)
  const variables = toVariables(told.variables).filter(({ name }) => url.includes(`{${name}}`))
  return (
    findAddressFault({ url, variables }, rules) ?? {
      ...{ kind: 'mcp', transport, url },
      ...(variables.length > 0 && { variables }),
      ...(headers.length > 0 && { headers }),
    }
  )
}

/** An address with places is judged by one of its form; a place that nobody declares is refused. */
function findAddressFault(entry: Address, { allowPlaceholders }: HostRules): Fault | null {
  const isBase = entry.url.startsWith('{')
  return findCallableUrlFault(sampleAddress(entry), {
    // Whoever runs it knows the host: nobody else's stands there.
    allowPlaceholders: allowPlaceholders || isBase,
  })
}
type Address = Parameters<typeof sampleAddress>[0]

function mapPackage(value: unknown, rules: HostRules): Mapped {
  const result = v.safeParse(PackageSchema, value)
  if (!result.success) return toFault('package', result.issues[0])
  const { registryType: registry, transport: { type: transport } = { type: 'stdio' } } =
    result.output
  const identifier = normalizeIdentifier(registry, result.output.identifier)
  const env = toEnv(result.output.environmentVariables)
  const args = toArgs(result.output.packageArguments)
  return (
    findPackageFault(registry, identifier, rules) ?? {
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
 * A listing names a package, not one of its versions. An image's digest and tag are removed too,
 * since the newest row would otherwise change the listing with every release.
 *
 * @example normalizeIdentifier('npm', '@scope/name@1.2.3') → '@scope/name'
 */
export function normalizeIdentifier(registry: PackageRegistry, identifier: string): string {
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

function findPackageFault(registry: PackageRegistry, identifier: string, rules: HostRules) {
  if (registry === 'mcpb') return findCallableUrlFault(identifier, rules)
  const detail = findIdentifierFault(registry, identifier)
  return detail === null ? null : faultOf('invalid_identifier', detail)
}

function toFault(what: string, issue: v.BaseIssue<unknown>): Fault {
  const place = v.getDotPath(issue) ?? ''
  return faultOf(REASONS[place] ?? 'invalid_row', `${what} ${place}: ${issue.message}`)
}
