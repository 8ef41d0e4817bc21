import * as v from 'valibot'
import { BASE_URL_PLACEHOLDER, findUrlFault, type UrlRules } from './target-url.ts'
import { PACKAGE_REGISTRIES, PACKAGE_TRANSPORTS, REMOTE_TRANSPORTS } from './vocabulary.ts'

type PackageRegistry = (typeof PACKAGE_REGISTRIES)[number]

const IDENTIFIER_RULES: Record<
  Exclude<PackageRegistry, 'mcpb'>,
  { pattern: RegExp; example: string }
> = {
  npm: {
    pattern: /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*$/,
    example: '@scope/name',
  },
  pypi: { pattern: /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/, example: 'mcp-server-fetch' },
  oci: {
    pattern:
      /^[a-z0-9][a-z0-9.-]*(?::\d{1,5})?(?:\/[a-z0-9._-]+)*(?::[\w.-]{1,128})?(?:@sha256:[0-9a-f]{64})?$/,
    example: 'ghcr.io/owner/image',
  },
  nuget: { pattern: /^[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?$/, example: 'Vendor.Server' },
}

const MAX_IDENTIFIER_LENGTH = 214

/** spec: Invoke entry. A remote has a URL, a package has a registry and an identifier. */
export function createInvokeSchema(rules: UrlRules) {
  return v.variant(
    'kind',
    [
      v.strictObject({
        kind: v.literal('mcp'),
        transport: v.picklist(REMOTE_TRANSPORTS, `expected ${REMOTE_TRANSPORTS.join(' or ')}`),
        url: urlSchema(rules),
      }),
      v.pipe(
        v.strictObject({
          kind: v.literal('mcp_package'),
          transport: v.picklist(PACKAGE_TRANSPORTS, `expected ${PACKAGE_TRANSPORTS.join(', ')}`),
          registry: v.picklist(
            PACKAGE_REGISTRIES,
            `expected one of ${PACKAGE_REGISTRIES.join(', ')}`,
          ),
          identifier: v.pipe(v.string(), v.maxLength(MAX_IDENTIFIER_LENGTH)),
        }),
        v.rawCheck(({ dataset, addIssue }) => {
          if (!dataset.typed) return
          const fault = findIdentifierFault(dataset.value.registry, dataset.value.identifier)
          if (fault === null) return
          const { value } = dataset
          addIssue({
            message: fault,
            path: [
              {
                type: 'object',
                origin: 'value',
                input: value,
                key: 'identifier',
                value: value.identifier,
              },
            ],
          })
        }),
      ),
    ],
    'expected kind mcp or mcp_package',
  )
}

export type InvokeEntry = v.InferOutput<ReturnType<typeof createInvokeSchema>>

/** A URL checked by `findUrlFault`; the message says what would be right. */
export function urlSchema(rules: UrlRules) {
  return v.pipe(
    v.string('expected a URL'),
    v.rawCheck(({ dataset, addIssue }) => {
      const fault = dataset.typed ? findUrlFault(dataset.value, rules) : null
      if (fault !== null) addIssue({ message: fault })
    }),
  )
}

/** As `urlSchema`, and `{base_url}/…` too, which first-party listings may use. */
export function ownUrlSchema(rules: UrlRules) {
  return v.pipe(
    v.string('expected a URL'),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed || dataset.value.startsWith(`${BASE_URL_PLACEHOLDER}/`)) return
      const fault = findUrlFault(dataset.value, rules)
      if (fault !== null) addIssue({ message: fault })
    }),
  )
}

/** @returns what is wrong with a package identifier in this registry, or null. */
export function findIdentifierFault(registry: PackageRegistry, identifier: string): string | null {
  if (registry === 'mcpb') {
    const fault = findUrlFault(identifier, { allowPrivate: false })
    return fault === null ? null : `${fault} (an mcpb identifier is the archive's URL)`
  }
  const { pattern, example } = IDENTIFIER_RULES[registry]
  return pattern.test(identifier)
    ? null
    : `expected a name in the ${registry} registry such as ${example}, got ${JSON.stringify(identifier)}`
}
