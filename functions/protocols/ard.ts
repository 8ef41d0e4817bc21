import type { H3Event } from 'h3'
import * as v from 'valibot'
import { railsOf } from '../../src/domain/listing/pricing.ts'
import {
  AGENT_CARD_TYPE,
  type ArdRow,
  SERVER_CARD_TYPE,
  toArdType,
  toServerCard,
  toUrnPrefix,
} from '../../src/domain/protocols/cards.ts'
import { MAX_QUERY_CHARACTERS } from '../../src/domain/search/search-parameters.ts'
import type { ListingView } from '../../src/domain/views/listing-view.ts'
import { isJsonObject } from '../../src/domain/wire/json.ts'
import { kitPath } from '../../src/domain/wire/links.ts'
import { whole } from '../../src/domain/wire/shapes.ts'
import { KINDS, type Kind } from '../../src/domain/wire/vocabulary.ts'
import type { Handler } from '../features/feature.ts'
import { publicJson } from '../http/answers.ts'
import { createDirectory, type Directory, type DirectoryParts, findIds } from './directory.ts'
import {
  type BodyBudgets,
  createReadEndpoint,
  type ProtocolLimits,
  QueryFault,
  readPageToken,
  readPathPart,
  readProtocolBody,
  toPageToken,
} from './requests.ts'

/** ARD's own error names, by HTTP status. */
const ERROR_CODES = new Map([
  [404, 'NOT_FOUND'],
  [405, 'METHOD_NOT_ALLOWED'],
  [429, 'RATE_LIMIT_EXCEEDED'],
  [501, 'NOT_IMPLEMENTED'],
])
const codeOf = (status: number) => ERROR_CODES.get(status) ?? 'INVALID_ARGUMENT'

const BAD_TOKEN = 'pageToken: expected a token from an earlier answer.'
const MAX_BODY_BYTES = 16 * 1024
const URN = /^urn:air:[a-zA-Z0-9.-]+(?::[a-zA-Z0-9._-]+)+$/

type ArdParts = DirectoryParts & ProtocolLimits & BodyBudgets

/**
 * The registry API of ARD 0.91 (§5.3) over our listings. It uses no other registry, even if a
 * search names one, and lacks `explore`, which is optional.
 */
export function createArdEndpoints(parts: ArdParts) {
  const directory = createDirectory(parts, 'api')
  return {
    ard_search: createSearchEndpoint(parts, createSearch(parts, directory)),
    ard_explore: async ({ req }: H3Event) =>
      req.method === 'POST'
        ? refuse(501, 'This registry has no /explore; POST /ard/search with a filter instead.')
        : refuse(405, ASK_BY_POST, ALLOWED),
    ard_agent: createAgentEndpoint(parts, directory),
  }
}

/** `POST /ard/search`: a page of our listings. */
function createSearch(parts: ArdParts, directory: Directory) {
  const baseUrl = parts.config.BASE_URL
  const terms = createOwnTerms(baseUrl)
  return async function search(requested: v.InferOutput<typeof ArdSearchSchema>) {
    const { pageSize, pageToken, query } = requested
    const start = Number(readPageToken(pageToken, JSON.stringify(query), BAD_TOKEN) ?? 0)
    const constraints = readConstraints(query, baseUrl)
    const rows = await parts.release().protocolData.ardRows()
    // With a filter, any listing may fit, so all are ranked.
    const ranked = constraints.length === 0 ? start + pageSize + 1 : Number.POSITIVE_INFINITY
    const found = findIds(parts.release(), query.text, ranked)
      .flatMap((id) => rows.get(id) ?? [])
      .filter((row) => fitsFilter(row, constraints, terms))
    const shown = found.slice(start, start + pageSize).map(({ id }) => id)
    parts.ledger.usage.searched(shown, 'api')
    const results = await Promise.all(
      shown.map(async (id, at) => {
        // 100 for the first result, falling with the rank: the score shows how well a result fits, not trust.
        const score = Math.max(1, Math.round(100 / (1 + (start + at) / 10)))
        const view = await directory.listing(id)
        return view && { ...toArdEntry(view, baseUrl), score, source: `${baseUrl}/ard` }
      }),
    )
    const next = start + shown.length
    return {
      results: results.filter((result) => result !== null),
      ...(next < found.length && { pageToken: toPageToken(String(next), JSON.stringify(query)) }),
    }
  }
}

const UNBOUND =
  'expected an ARD term, or `kind`, `category`, `rail` or `tag`, or a term whose prefix the query’s @context binds'

/** Every key in the filter, read in the query's context. */
function readConstraints({ '@context': context, filter }: ArdQuery, baseUrl: string) {
  const readTerm = createTermReader(context, baseUrl)
  return Object.entries(filter).map(([key, given]): Constraint => {
    const iri = readTerm(key)
    if (iri === null) throw new QueryFault(`query.filter.${key}: ${UNBOUND}`)
    return { iri, values: typeof given === 'string' ? [given] : given }
  })
}

/** `GET /ard/agents/{urn}`: one complete entry. */
function createAgentEndpoint(parts: ArdParts, directory: Directory): Handler {
  const baseUrl = parts.config.BASE_URL
  const toRefusal = (status: number, message: string) => ({ errorCode: codeOf(status), message })
  const answer = async ({ pathname }: URL) => {
    const urn = readPathPart(pathname.slice(pathname.lastIndexOf('/') + 1))
    if (!URN.test(urn)) throw new QueryFault('Expected a urn:air: id, percent-encoded once.')
    const id = parseUrn(urn, baseUrl)
    const view = id === null ? null : await directory.listing(id)
    const entry = view && toArdEntry(view, baseUrl)
    return entry?.identifier === urn
      ? { body: entry }
      : { status: 404, error: 'No entry here has this identifier.' }
  }
  return createReadEndpoint(parts, 'Read by GET.', answer, toRefusal)
}

type Search = ReturnType<typeof createSearch>

/** Parses the JSON body; errors take ARD's own form. */
function createSearchEndpoint(parts: ArdParts, search: Search): Handler {
  return async function ardSearch({ req }: H3Event): Promise<Response> {
    if (req.method !== 'POST') return refuse(405, ASK_BY_POST, ALLOWED)
    const read = await readProtocolBody(parts, req, MAX_BODY_BYTES)
    if ('fault' in read) {
      const isFull = read.status === 429 || read.status === 503
      return refuse(isFull ? 429 : 400, read.fault, read.headers)
    }
    const parsed = v.safeParse(ArdSearchSchema, read.json)
    if (!parsed.success) return refuse(400, toSentence(parsed.issues), read.taken)
    try {
      return publicJson(await search(parsed.output), read.taken)
    } catch (error) {
      if (!(error instanceof QueryFault)) throw error
      return refuse(400, error.message, read.taken)
    }
  }
}

const ASK_BY_POST = 'Send the search by POST.'
const ALLOWED = { Allow: 'POST, OPTIONS' }

function refuse(status: number, message: string, headers: Record<string, string> = {}): Response {
  return publicJson({ errorCode: codeOf(status), message }, headers, status)
}

function toSentence(issues: readonly v.BaseIssue<unknown>[]): string {
  return issues
    .slice(0, 5)
    .map((issue) => `${v.getDotPath(issue) ?? 'body'}: ${issue.message}`)
    .join('; ')
}

/** A listing as an entry: `url` or `data` is a document of the entry's `type`, and `@context` binds our own terms. */
export function toArdEntry(view: ListingView, baseUrl: string) {
  const type = toArdType(view)
  const entry = {
    '@context': { directory: toOwnNamespace(baseUrl) },
    identifier: toUrn(view.id, view.kind, baseUrl),
    displayName: view.name,
    description: view.summary,
    type,
    representativeQueries: toQueries(view),
    tags: view.tags,
    'directory:kind': view.kind,
    'directory:category': view.categories,
    'directory:rail': railsOf(view.pricing),
  }
  const card = type === SERVER_CARD_TYPE ? toServerCard(view, baseUrl) : null
  if (card !== null) return { ...entry, data: card }
  const url = type === AGENT_CARD_TYPE ? view.discovery?.agent_card : undefined
  return { ...entry, url: url ?? `${baseUrl}${kitPath(view.id)}` }
}

/** Namespace of the terms that our entries use in addition to ARD's. */
function toOwnNamespace(baseUrl: string): string {
  return `${baseUrl}/docs#`
}

/** @example toUrn('x402.exa', 'http_api', 'https://directory.example') → 'urn:air:directory.example:http_api:x402.exa' */
function toUrn(id: string, kind: Kind, baseUrl: string): string {
  return `${toUrnPrefix(baseUrl)}:${kind}:${id}`
}

/** The listing id in one of our identifiers; null for any other identifier. */
function parseUrn(urn: string, baseUrl: string): string | null {
  const prefix = `${toUrnPrefix(baseUrl)}:`
  if (!urn.startsWith(prefix)) return null
  const [kind, id, ...more] = urn.slice(prefix.length).split(':')
  const isOurs = id !== undefined && more.length === 0 && KINDS.some((known) => known === kind)
  return isOurs ? id : null
}

/** Two to five queries, made only from the listing's own name and tags. */
function toQueries({ name, tags, categories }: ListingView): string[] {
  const words = [...tags, ...categories].map((word) => word.replaceAll('_', ' '))
  return [name, words.slice(0, 3).join(' '), words.slice(3, 6).join(' ')].filter(
    (query) => query !== '',
  )
}

/** The query of `POST /ard/search` (ARD 0.91 §5.3); closed, as specified. */
const QuerySchema = v.strictObject({
  '@context': v.optional(v.union([v.string(), v.array(v.unknown()), v.looseObject({})])),
  text: v.pipe(v.string(), v.maxLength(MAX_QUERY_CHARACTERS)),
  filter: v.optional(
    v.record(
      v.pipe(v.string(), v.maxLength(300)),
      v.union([v.string(), v.array(v.string())], 'expected text or a list of texts'),
    ),
    {},
  ),
})

type ArdQuery = v.InferOutput<typeof QuerySchema>

const DEFAULT_PAGE = 10

const MOST_REQUESTED = 100

const ArdSearchSchema = v.strictObject({
  query: QuerySchema,
  /** Accepted because it is in the standard; whatever its value, the answer has only our own listings. */
  federation: v.optional(v.picklist(['auto', 'referrals', 'none']), 'none'),
  pageSize: v.optional(whole(1, MOST_REQUESTED), DEFAULT_PAGE),
  pageToken: v.optional(v.pipe(v.string(), v.maxLength(100))),
})

/** The namespace of terms that are written without a prefix (§4.1). */
const ARD_NAMESPACE = 'https://agenticresourcediscovery.org/ns#'

/** The terms of §4.2, and `publisher`, which is read from the identifier (§5.3.1). */
const ARD_TERMS = [
  ...['identifier', 'displayName', 'type', 'url', 'data', 'representativeQueries', 'capabilities'],
  ...['description', 'tags', 'version', 'updatedAt', 'metadata', 'trustManifest', 'publisher'],
]

/** After one of these prefixes, the rest of a path is literal (§5.3.1). */
const OPAQUE = /^(data|metadata|trustManifest)\./

/** A term's IRI, and its wanted values: an entry must have at least one of them. */
interface Constraint {
  iri: string
  values: readonly string[]
}

/** Reads an entry's values for one term; `Terms` has a reader for each term's IRI. */
type Reader = (entry: ArdRow) => readonly string[]
type Terms = ReadonlyMap<string, Reader>

/** The terms in our own entries, each with the function that reads its values. */
function createOwnTerms(baseUrl: string): Terms {
  const own = toOwnNamespace(baseUrl)
  const publisher = [new URL(baseUrl).hostname]
  return new Map<string, Reader>([
    [`${ARD_NAMESPACE}identifier`, ({ id, kind }) => [toUrn(id, kind, baseUrl)]],
    [`${ARD_NAMESPACE}type`, ({ type }) => [type]],
    [`${ARD_NAMESPACE}tags`, ({ tags }) => tags],
    [`${ARD_NAMESPACE}publisher`, () => publisher],
    [`${own}kind`, ({ kind }) => [kind]],
    [`${own}category`, ({ categories }) => categories],
    [`${own}rail`, ({ rails }) => rails],
  ])
}

/** Resolves names to IRIs (§5.3.1); null for a name that no context binds. No context is fetched. */
function createTermReader(context: ArdQuery['@context'], baseUrl: string) {
  const own = toOwnNamespace(baseUrl)
  const bound = new Map([
    ...ARD_TERMS.map((term) => [term, ARD_NAMESPACE + term] as const),
    // These work without a prefix too, because clients sent them before entries had namespaces.
    ...['kind', 'category', 'rail'].map((term) => [term, own + term] as const),
    ['tag', `${ARD_NAMESPACE}tags`] as const,
    ...readBindings(context),
  ])
  return (name: string): string | null => {
    const [, member = name] = OPAQUE.exec(name) ?? []
    const known = bound.get(member)
    if (known !== undefined) return known + name.slice(member.length)
    const [prefix = '', local] = name.split(/:(.*)/s)
    if (local?.startsWith('//')) return name
    const namespace = bound.get(prefix)
    return local === undefined || namespace === undefined ? null : namespace + local
  }
}

function readBindings(context: ArdQuery['@context']): (readonly [string, string])[] {
  const parts: unknown[] = Array.isArray(context) ? context : [context]
  return parts.filter(isJsonObject).flatMap((part) =>
    Object.entries(part).flatMap(([name, value]) => {
      const iri = isJsonObject(value) ? value['@id'] : value
      return typeof iri === 'string' ? [[name, iri] as const] : []
    }),
  )
}

/** Whether an entry has, for every key of a filter, at least one of the key's values. */
function fitsFilter(entry: ArdRow, constraints: readonly Constraint[], terms: Terms): boolean {
  return constraints.every(({ iri, values }) =>
    terms
      .get(iri)?.(entry)
      .some((value) => values.includes(value)),
  )
}
