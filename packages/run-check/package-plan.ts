import * as v from 'valibot'
import { createInvokeSchema, findIdentifierFault } from '../../src/domain/listing/invoke.ts'
import { VersionSchema } from '../../src/domain/listing/listing-facts.ts'

/** The registries whose packages can be run, the most likely to run first. */
const REGISTRIES = ['npm', 'pypi'] as const

/** A package with MCP over stdio, and the settings to start it with. */
export interface PackagePlan {
  registry: (typeof REGISTRIES)[number]
  identifier: string
  /** Null for the registry's newest. */
  version: string | null
  /** Placeholders for what is required: nobody here has an account with the seller. */
  env: Record<string, string>
  args: string[]
}

/** What a listing says of its packages; its other members are of no interest here. */
const PackagedSchema = v.object({
  probe: v.optional(v.boolean(), true),
  version: v.optional(VersionSchema),
  invoke: v.optional(v.array(createInvokeSchema({ allowPrivate: true })), []),
})

/**
 * The package of a listing that runs best.
 *
 * @param frontMatter parsed, not yet checked
 * @returns one sentence if there is nothing to run
 */
export function planListing(frontMatter: unknown): PackagePlan | string {
  const parsed = v.safeParse(PackagedSchema, frontMatter)
  if (!parsed.success) {
    const [issue] = parsed.issues
    return `${v.getDotPath(issue) ?? 'the front matter'}: ${issue.message}`
  }
  const { probe, version, invoke } = parsed.output
  if (!probe) return 'probe: false asks us to leave this listing alone'
  for (const registry of REGISTRIES) {
    const entry = invoke.find(
      (each) =>
        each.kind === 'mcp_package' && each.transport === 'stdio' && each.registry === registry,
    )
    if (entry?.kind !== 'mcp_package') continue
    const { identifier, env = [], args = [] } = entry
    const required = env.filter((setting) => setting.required)
    const settings = required.map(({ name, secret, example }) => [
      name,
      secret || example === undefined ? toPlaceholder(name) : example,
    ])
    const named = { registry, identifier, version: version ?? null }
    return { ...named, env: Object.fromEntries(settings), args }
  }
  return `no package of ${REGISTRIES.join(' or ')} with transport stdio is listed in invoke`
}

/**
 * @param text npm where no registry is named
 * @returns one sentence for anything other than a package: it is never passed to a manager
 * @example planPackage('pypi:mcp-server-fetch@2.1.0') → { registry: 'pypi', identifier: 'mcp-server-fetch', version: '2.1.0', … }
 */
export function planPackage(text: string): PackagePlan | string {
  const [, named = 'npm', rest = ''] = /^(?:([a-z]+):)?(.*)$/s.exec(text) ?? []
  const registry = REGISTRIES.find((each) => each === named)
  if (registry === undefined)
    return `expected a package of ${REGISTRIES.join(' or ')}, got ${JSON.stringify(text)}`
  const [, identifier = '', version = null] = /^(@?[^@]*)(?:@(.*))?$/s.exec(rest) ?? []
  const fault = findIdentifierFault(registry, identifier)
  if (fault !== null) return `${JSON.stringify(identifier)}: ${fault}`
  if (version !== null && !v.is(VersionSchema, version))
    return `${JSON.stringify(version)}: expected one fixed version such as 1.4.2`
  return { registry, identifier, version, env: {}, args: [] }
}

/** A value in the form that the name suggests, since programs check it; addresses lead nowhere. */
export function toPlaceholder(name: string): string {
  if (/^(?:DATABASE|POSTGRES|DB|PG)\w*(?:URL|URI)$|(?:DSN|CONNECTION_STRING)$/i.test(name))
    return 'postgresql://127.0.0.1:1/placeholder'
  if (/(?:URL|URI|ENDPOINT)$/i.test(name)) return 'http://127.0.0.1:1'
  if (/HOST$/i.test(name)) return '127.0.0.1'
  if (/(?:DIR|DIRECTORY|PATH|FOLDER|ROOT)$/i.test(name)) return '/tmp'
  return /PORT$/i.test(name) ? '1' : 'placeholder'
}

/** What was filled in instead of real values. */
export function placeholdersOf({ env, args }: PackagePlan): string[] {
  return [...Object.keys(env), ...args.filter((text) => /<[\w-]+>/.test(text))]
}
