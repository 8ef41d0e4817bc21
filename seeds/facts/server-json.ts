import * as v from 'valibot'
import {
  type Auth,
  FIELD_NAME,
  findIdentifierFault,
  type InvokeEntry,
  isCallersHost,
  type PackageRegistry,
  type Setting,
  sampleAddress,
} from '../../src/domain/listing/invoke.ts'
import { findTextFault } from '../../src/domain/listing/listing-text.ts'
import { eachOnce, isJsonObject, memberOf } from '../../src/domain/wire/json.ts'
import {
  PACKAGE_REGISTRIES,
  PACKAGE_TRANSPORTS,
  REMOTE_TRANSPORTS,
} from '../../src/domain/wire/vocabulary.ts'
import {
  describeIssue,
  type Fault,
  faultOf,
  findCallableUrlFault,
  foreignText,
  foreignTexts,
  type HostRules,
  parseRow,
  type Refusal,
  type Reported,
  refuse,
  toInstant,
} from './map-rows.ts'
import { findInstruction, toSeedLine } from './seed-texts.ts'

/**
 * A row in the MCP registry, API v0.1 (`{server, _meta}`), or in a saved file (`{server,
 * found_at}`), or a bare `server.json`. Only used fields are read; every list and text is bounded,
 * since the row is a stranger's. Entries in `remotes` and `packages` are judged one by one, so that
 * one bad entry doesn't exclude the server.
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
    foreignText,
    v.minLength(3, 'expected 3 to 200 characters'),
    v.maxLength(200, 'expected 3 to 200 characters'),
    v.regex(REGISTRY_NAME, 'expected namespace/server, such as io.github.user/weather'),
  ),
  ...foreignTexts('title', 'description', 'version', 'websiteUrl'),
  repository: v.nullish(v.object(foreignTexts('url'))),
  remotes: entries,
  packages: entries,
})

/** The registry's statements about a row; without them, a row is the newest version of an active server. */
const OfficialSchema = v.object({
  status: v.optional(foreignText, 'active'),
  statusMessage: v.nullish(foreignText, ''),
  statusChangedAt: v.pipe(v.nullish(foreignText), v.transform(toInstant)),
  publishedAt: v.pipe(
    v.optional(foreignText),
    v.transform((text) => toInstant(text)),
  ),
  isLatest: v.optional(v.boolean(), true),
})
export const NO_META = v.parse(OfficialSchema, {})

const AboutSchema = v.object({
  _meta: v.optional(v.object({ [OFFICIAL_META]: v.optional(OfficialSchema, {}) }), {}),
  found_at: v.optional(v.pipe(v.array(foreignText), v.maxLength(MAX_ENTRIES)), []),
})

export type RegistryServer = v.InferOutput<typeof ServerSchema>

export interface RegistryRow {
  server: RegistryServer
  official: typeof NO_META
  /** Where a saved row was found, if it says so; a row from the live API is its own source. */
  foundAt: readonly string[]
  /** The source of the words, if it is not the registry. */
  reported?: SourceRef
  /** Facts in the row for which the registry has no members. */
  more?: Pick<Reported, 'tags' | 'evidence' | 'rows'>
}

export function parseRegistryRow(value: unknown): { row: RegistryRow } | { refusal: Refusal } {
  const isWrapped = isJsonObject(value) && isJsonObject(value.server)
  const parsed = parseRow(ServerSchema, isWrapped ? value.server : value, 'name')
  if ('refusal' in parsed) return parsed
  const { row: server } = parsed
  const about = v.safeParse(AboutSchema, isWrapped ? value : {})
  if (!about.success)
    return refuse(server.name, {
      reason: 'invalid_row',
      detail: describeIssue(about.issues[0], 'row'),
    })
  const { _meta, found_at: foundAt } = about.output
  return { row: { server, official: _meta[OFFICIAL_META] ?? NO_META, foundAt } }
}

export interface SourceRef {
  source: string
  ref: string
}

const MAP_INVOKE_MAX_ENTRIES = 20

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

/** Refusal reasons for fields with closed lists of values; any other error concerns an entry's shape. */
const REASONS: Readonly<Record<string, Fault['reason']>> = {
  type: 'unknown_transport',
  'transport.type': 'unknown_transport',
  registryType: 'unknown_registry',
}

type MappedEntry = InvokeEntry | Fault

/**
 * Remotes first: what can be called at once comes before what must be installed. `faults` says what
 * was left out and why, in the server's order.
 */
export function mapInvoke(server: RegistryServer, rules: HostRules) {
  const mapped = [
    ...(server.remotes ?? []).map((value) => mapRemote(value, rules)),
    ...(server.packages ?? []).map((value) => mapPackage(value, rules)),
  ]
  // If several entries have one endpoint, the first stays, with its settings.
  const entries = eachOnce(
    mapped.filter((item) => 'kind' in item),
    keyOf,
  )
  return {
    entries: entries.slice(0, MAP_INVOKE_MAX_ENTRIES),
    faults: mapped.filter((item) => 'reason' in item),
  }
}

function mapRemote(value: unknown, rules: HostRules): MappedEntry {
  const result = v.safeParse(RemoteSchema, value)
  if (!result.success) return toFault('remote', result.issues[0])
  const { type: transport, url, ...reported } = result.output
  const headers = toHeaders(reported.headers)
  const variables = toVariables(reported.variables).filter(({ name }) => url.includes(`{${name}}`))
  return (
    findAddressFault({ url, variables }, rules) ?? {
      ...{ kind: 'mcp', transport, url },
      ...(variables.length > 0 && { variables }),
      ...(headers.length > 0 && { headers }),
    }
  )
}

/** Judges an address with placeholders by a sample of it; an undeclared placeholder is refused. */
function findAddressFault(entry: Address, rules: HostRules): Fault | null {
  const allowPlaceholders = rules.allowPlaceholders || isCallersHost(entry)
  return findCallableUrlFault(sampleAddress(entry), { allowPlaceholders })
}
type Address = Parameters<typeof sampleAddress>[0]

function mapPackage(value: unknown, rules: HostRules): MappedEntry {
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

/**
 * Settings that a server requires: a package's environment variables, a remote's headers,
 * arguments. An unreadable setting is dropped, not the server.
 */
const MAX_SETTINGS = 60
const MAX_DESCRIPTION = 200
const MAX_VALUE = 200

const ENV_NAME = /^[A-Za-z_]\w{0,99}$/
const VARIABLE_NAME = /^[A-Za-z_][\w.-]{0,99}$/
const MAX_CHOICES = 50

const InputSchema = v.object({
  ...v.entriesFromList(['name', 'description', 'type', 'valueHint'], v.nullish(v.string())),
  ...v.entriesFromList(['value', 'default', 'placeholder'], v.nullish(v.string())),
  ...v.entriesFromList(['isRequired', 'isSecret'], v.nullish(v.boolean())),
})
type Input = v.InferOutput<typeof InputSchema>

/** @example toEnv([{ name: 'API_KEY', isRequired: true, isSecret: true }]) → [{ name: 'API_KEY', required: true, secret: true }] */
export function toEnv(values: unknown): Setting[] {
  return toSettings(values, ENV_NAME)
}

export function toHeaders(values: unknown): Setting[] {
  return toSettings(values, FIELD_NAME)
}

/** Parts of an address, by name, with their defaults and choices. */
function toVariables(values: unknown): Setting[] {
  const named = Object.entries(isJsonObject(values) ? values : {}).map(([name, input]) => ({
    ...(isJsonObject(input) ? input : {}),
    name,
  }))
  return toSettings(named, VARIABLE_NAME).map(({ example: _, ...setting }) => {
    const input = named.find(({ name }) => name === setting.name) ?? {}
    const example = toText(memberOf(input, 'placeholder'))
    const fixed = [memberOf(input, 'value'), memberOf(input, 'default')].map(toText)
    const stated = fixed.find((each) => each !== null) ?? null
    const listed = memberOf(input, 'choices')
    const choices = (Array.isArray(listed) ? listed : []).flatMap((each) => toText(each) ?? [])
    return {
      ...setting,
      ...(example !== null && { example: withPlaces(example) }),
      ...(stated !== null && !setting.secret && { default: stated }),
      ...(choices.length > 0 && { choices: choices.slice(0, MAX_CHOICES) }),
    }
  })
}

/** The arguments after the server's name: fixed ones as they are, the rest as placeholders. */
export function toArgs(values: unknown): string[] {
  return inputsOf(values).flatMap((input) => {
    const value = input.value ?? input.default
    const isNeeded = input.isRequired === true || (value !== undefined && value !== null)
    const hint = toPlace(input.valueHint ?? input.name ?? 'value')
    const shown = value === undefined || value === null ? hint : withPlaces(value)
    const line = toValue(shown)
    if (!isNeeded || line === null) return []
    if (input.type !== 'named') return [line]
    const name = /^--?[A-Za-z][\w-]{0,60}$/.exec(input.name ?? '')?.[0]
    return name === undefined ? [] : [name, line]
  })
}

/** What a caller must have first, according to the settings. */
export function authOf(entries: readonly InvokeEntry[]): Auth | null {
  for (const entry of entries) {
    const settings: readonly Setting[] = (entry.kind === 'mcp' ? entry.headers : entry.env) ?? []
    const key = settings.find(({ required, secret }) => required && secret)
    if (key === undefined) continue
    if (entry.kind !== 'mcp') return { type: 'api_key' }
    if (/^authorization$/i.test(key.name))
      return { type: /^basic\b/i.test(key.example ?? '') ? 'other' : 'bearer' }
    return { type: 'api_key', in: 'header', name: key.name }
  }
  return null
}

function toSettings(values: unknown, names: RegExp): Setting[] {
  const byName = new Map<string, Setting>()
  for (const input of inputsOf(values)) {
    const name = input.name ?? ''
    if (!names.test(name) || byName.has(name)) continue
    const description = toSeedLine(input.description, MAX_DESCRIPTION)
    const isSecret = input.isSecret === true
    const example = exampleOf(input, isSecret)
    byName.set(name, {
      name,
      ...(description === null ? {} : { description }),
      required: input.isRequired === true,
      secret: isSecret,
      ...(example === null ? {} : { example }),
    })
  }
  return [...byName.values()].slice(0, MAX_SETTINGS)
}

/** A value that works for everybody; for a secret only its form, such as `Bearer <token>`. */
function exampleOf({ value, default: fallback, placeholder }: Input, isSecret: boolean) {
  const given = value ?? fallback ?? placeholder
  if (typeof given !== 'string') return null
  const shape = withPlaces(given)
  return isSecret && shape === given ? null : toValue(shape)
}

/** A value is not prose: it is taken verbatim or not at all. */
function toValue(text: string): string | null {
  const isFine =
    text.trim() !== '' &&
    text.length <= MAX_VALUE &&
    findTextFault(text) === null &&
    findInstruction(text) === null
  return isFine ? text.trim() : null
}

function toText(value: unknown): string | null {
  return typeof value === 'string' ? toValue(value) : null
}

/** @example withPlaces('Bearer {api_key}') → 'Bearer <api_key>' */
function withPlaces(text: string): string {
  return text.replace(/\{([\w.-]{1,60})\}/g, '<$1>')
}

function toPlace(name: string): string {
  return `<${
    name
      .replace(/^-+/, '')
      .replace(/[^\w-]+/g, '_')
      .slice(0, 60) || 'value'
  }>`
}

function inputsOf(values: unknown): Input[] {
  const list = Array.isArray(values) ? values.slice(0, MAX_SETTINGS * 2) : []
  return list.flatMap((value) => (v.is(InputSchema, value) ? [value] : []))
}
