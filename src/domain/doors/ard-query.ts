import * as v from 'valibot'
import { MAX_QUERY_CHARACTERS } from '../search/search-query.ts'
import { isJsonObject } from '../wire/parse-json.ts'
import { whole } from '../wire/shapes.ts'
import { type ArdRow, toOwnNamespace, toUrn } from './ard-entry.ts'

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
export type ArdQuery = v.InferOutput<typeof QuerySchema>

const DEFAULT_PAGE = 10
const MOST_ASKED = 100

export const ArdSearchSchema = v.strictObject({
  query: QuerySchema,
  /** Taken as the standard has it; the answer is our own listings, whatever it says. */
  federation: v.optional(v.picklist(['auto', 'referrals', 'none']), 'none'),
  pageSize: v.optional(whole(1, MOST_ASKED), DEFAULT_PAGE),
  pageToken: v.optional(v.pipe(v.string(), v.maxLength(100))),
})

/** The namespace of terms that are written without a prefix (§4.1). */
const ARD_NAMESPACE = 'https://agenticresourcediscovery.org/ns#'

/** The terms of §4.2, and `publisher`, which is read from the identifier (§5.3.1). */
const ARD_TERMS = [
  ...['identifier', 'displayName', 'type', 'url', 'data', 'representativeQueries', 'capabilities'],
  ...['description', 'tags', 'version', 'updatedAt', 'metadata', 'trustManifest', 'publisher'],
]
/** Below these, the rest of a path is literal (§5.3.1). */
const OPAQUE = /^(data|metadata|trustManifest)\./

/** An IRI, and values of which an entry must have one. */
export interface Constraint {
  iri: string
  values: readonly string[]
}

type Reader<Entry> = (entry: Entry) => readonly string[]
/** The values of an entry, by the IRI of a term. */
export type Terms<Entry> = ReadonlyMap<string, Reader<Entry>>

/** Terms of our own entries, and how their rows are read for them. */
export function createOwnTerms(baseUrl: string): Terms<ArdRow> {
  const own = toOwnNamespace(baseUrl)
  const publisher = [new URL(baseUrl).hostname]
  return new Map<string, Reader<ArdRow>>([
    [`${ARD_NAMESPACE}identifier`, ({ id, kind }) => [toUrn(id, kind, baseUrl)]],
    [`${ARD_NAMESPACE}type`, ({ type }) => [type]],
    [`${ARD_NAMESPACE}tags`, ({ tags }) => tags],
    [`${ARD_NAMESPACE}publisher`, () => publisher],
    [`${own}kind`, ({ kind }) => [kind]],
    [`${own}category`, ({ categories }) => categories],
    [`${own}rail`, ({ rails }) => rails],
  ])
}

/** Reads names as IRIs (§5.3.1); null for an unbound one. No context is fetched. */
export function createTermReader(context: ArdQuery['@context'], baseUrl: string) {
  const own = toOwnNamespace(baseUrl)
  const bound = new Map([
    ...ARD_TERMS.map((term) => [term, ARD_NAMESPACE + term] as const),
    // Without a prefix too: clients asked so before entries had namespaces.
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

/** AND across the keys of a filter, OR among the values of one. */
export function fitsFilter<Entry>(
  entry: Entry,
  constraints: readonly Constraint[],
  terms: Terms<Entry>,
): boolean {
  return constraints.every(({ iri, values }) =>
    terms
      .get(iri)?.(entry)
      .some((value) => values.includes(value)),
  )
}
