import * as v from 'valibot'
import { type CompiledSite, readCompiled, readOpenApi } from '../../compiled.ts'
import { isBare, isSwitchedOff } from '../../domain/derived/tables.ts'
import { DOCS_GROUPS, docsPath } from '../../domain/wire/routes.ts'
import { toSchemaFields, toTypeText } from '../../domain/wire/shapes.ts'

/**
 * The part of an OpenAPI document that the reference page prints. It is parsed again, not imported:
 * the page shows the published document, so it can't say more than that document.
 */
const ParameterSchema = v.object({
  name: v.string(),
  in: v.string(),
  required: v.optional(v.boolean(), false),
  description: v.optional(v.string(), ''),
  schema: v.optional(v.record(v.string(), v.unknown()), {}),
})
const ContentSchema = v.optional(
  v.record(
    v.string(),
    v.object({
      schema: v.optional(v.record(v.string(), v.unknown()), {}),
      example: v.optional(v.unknown()),
    }),
  ),
  {},
)
const ResponseSchema = v.object({
  description: v.optional(v.string(), ''),
  content: ContentSchema,
})
const OperationSchema = v.object({
  operationId: v.string(),
  summary: v.optional(v.string(), ''),
  description: v.optional(v.string(), ''),
  tags: v.optional(v.array(v.string()), []),
  parameters: v.optional(v.array(ParameterSchema), []),
  requestBody: v.optional(v.object({ content: ContentSchema })),
  security: v.optional(v.array(v.unknown()), []),
  responses: v.record(v.string(), v.union([v.object({ $ref: v.string() }), ResponseSchema])),
})
const DocumentSchema = v.object({
  info: v.object({ version: v.string() }),
  paths: v.record(v.string(), v.record(v.string(), OperationSchema)),
  components: v.object({
    schemas: v.record(v.string(), v.record(v.string(), v.unknown())),
    responses: v.record(v.string(), ResponseSchema),
  }),
})
type Components = v.InferOutput<typeof DocumentSchema>['components']

type Operation = v.InferOutput<typeof OperationSchema>

/** An endpoint: methods with the same answer are grouped. */
export type ApiEndpoint = ReturnType<typeof toEndpoint>

let known: ReturnType<typeof makeReference> | undefined

/** The published OpenAPI document for the pages, with an existing listing for the commands. */
export function readReference() {
  const { site } = readCompiled()
  if (known?.site !== site) known = makeReference(site)
  return known
}

function makeReference(site: CompiledSite) {
  const first = site.first_call
  const [compared] = site.compare
  const examples = {
    ...{ q: 'web search', limit: '5', relay_info: '1' },
    // The latest day, so that the example lists recent changes rather than the oldest.
    since: site.stats.updated.slice(0, 10),
    ...(first !== null && { listing_id: first.id }),
    ...(compared !== undefined && { slug: compared.slug }),
  }
  const reference = toApiReference(readOpenApi(), { baseUrl: site.base_url, examples })
  const { switches } = site.texts
  return {
    site,
    reference,
    /** The pages of the reference. */
    groups: DOCS_GROUPS.filter(({ slug }) => !isSwitchedOff(docsPath(slug), switches)).map(
      ({ slug, tag, text, bare }) => ({
        term: tag ?? (slug === 'protocols' ? 'Protocols for agents' : 'Schemas'),
        text: isBare(switches) ? bare : text,
        href: docsPath(slug),
        endpoints: reference.groups.find((group) => group.tag === tag)?.endpoints ?? [],
      }),
    ),
    baseUrl: site.base_url,
    first,
  }
}

interface Examples {
  baseUrl: string
  /** Parameter values by name, for commands that run as they are. */
  examples: Readonly<Record<string, string>>
}

export function toApiReference(document: unknown, from: Examples) {
  const { info, paths, components } = v.parse(DocumentSchema, document)
  const endpoints = Object.entries(paths).flatMap(([path, item]) =>
    groupMethods(item).map(({ methods, operation }) =>
      toEndpoint(path, methods, operation, components, from),
    ),
  )
  const tags = [...new Set(endpoints.map(({ tag }) => tag))]
  return {
    version: info.version,
    groups: tags.map((tag) => ({
      tag,
      endpoints: endpoints.filter((endpoint) => endpoint.tag === tag),
    })),
    /** Named schemas with their own fields; nested fields are only in the document. */
    schemas: Object.entries(components.schemas).map(([name, schema]) => ({
      name,
      fields: toSchemaFields(schema),
    })),
  }
}

/** `call_get`, `call_post` … on one path are one endpoint; GET and POST of `claim` are two. */
function groupMethods(item: Record<string, Operation>) {
  const groups = new Map<string, { methods: string[]; operation: Operation }>()
  for (const [method, operation] of Object.entries(item)) {
    const id = toAnchor(method, operation.operationId)
    const group = groups.get(id) ?? { methods: [], operation: { ...operation, operationId: id } }
    group.methods.push(method.toUpperCase())
    groups.set(id, group)
  }
  return [...groups.values()]
}

function toAnchor(method: string, operationId: string): string {
  const suffix = `_${method}`
  return operationId.endsWith(suffix) ? operationId.slice(0, -suffix.length) : operationId
}

function toEndpoint(
  path: string,
  methods: string[],
  operation: Operation,
  components: Components,
  { baseUrl, examples }: Examples,
) {
  const address = toAddress(path, operation.parameters, examples)
  const isWhole = operation.parameters.every(({ name, required }) => !required || name in examples)
  const body = operation.requestBody?.content['application/json']
  const bodyFields =
    body === undefined ? [] : toSchemaFields(resolve(body.schema, components.schemas))
  return {
    /** Anchor on the page: the operation's id without its method. */
    id: operation.operationId,
    tag: operation.tags[0] ?? 'Other',
    methods,
    path,
    summary: operation.summary,
    description: operation.description,
    needsSession: operation.security.length > 0,
    fields: [
      ...operation.parameters.map((parameter) => ({
        name: parameter.name,
        place: parameter.in,
        type: toTypeText(parameter.schema),
        text: parameter.description,
        isRequired: parameter.required,
      })),
      ...bodyFields,
    ],
    responses: Object.entries(operation.responses).map(([status, response]) => {
      const { description, content } = resolveResponse(response, components)
      return {
        status,
        text: description,
        schema: toSchemaName(content['application/json']?.schema),
      }
    }),
    /** A command that runs as it is. */
    curl: toCurl(`${baseUrl}${address}`, methods, body?.example, operation, examples),
    /** The address that a browser opens to see the answer; only for reads. */
    run: isRead(methods, operation) && isWhole ? address : null,
  }
}

/** Whether opening the address in a browser only reads: a click is counted, and a stub shows no answer. */
function isRead(methods: string[], { operationId, security, responses }: Operation): boolean {
  const isOpen = security.length === 0 && operationId !== 'go'
  return isOpen && methods.includes('GET') && responses['501'] === undefined
}

function toAddress(
  path: string,
  parameters: Operation['parameters'],
  examples: Examples['examples'],
): string {
  const query = parameters.flatMap(({ name, in: place }) => {
    const value = place === 'query' ? examples[name] : undefined
    return value === undefined ? [] : [[name, value]]
  })
  const filled = path.replace(/\{(\w+)\}/g, (place, name) => examples[name] ?? place)
  return query.length === 0 ? filled : `${filled}?${new URLSearchParams(query)}`
}

function resolve(
  schema: Record<string, unknown>,
  schemas: Record<string, Record<string, unknown>>,
): Record<string, unknown> {
  const name = toSchemaName(schema)
  return name === null ? schema : (schemas[name] ?? {})
}

function resolveResponse(response: Operation['responses'][string], { responses }: Components) {
  if (!('$ref' in response)) return response
  return responses[toSchemaName(response) ?? ''] ?? { description: '', content: {} }
}

function toSchemaName(schema: Record<string, unknown> | undefined): string | null {
  const ref = schema?.$ref
  return typeof ref === 'string' ? ref.slice(ref.lastIndexOf('/') + 1) : null
}

function toCurl(
  url: string,
  methods: string[],
  body: unknown,
  { security }: Operation,
  { listing_id = '' }: Examples['examples'],
): string {
  const method = methods.includes('GET') ? 'GET' : (methods[0] ?? 'GET')
  const lines = [`curl -s '${url}'`]
  if (method !== 'GET') lines.push(`-X ${method}`)
  if (security.length > 0) lines.push("-b 'session=…'")
  if (body !== undefined)
    lines.push(
      "-H 'content-type: application/json'",
      `-d '${JSON.stringify(body).replace('LISTING', listing_id)}'`,
    )
  return lines.join(' \\\n  ')
}
