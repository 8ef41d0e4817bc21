import type { H3Event } from 'h3'
import * as v from 'valibot'
import {
  type ArdQuery,
  ArdSearchSchema,
  type Constraint,
  createOwnTerms,
  createTermReader,
  fitsFilter,
  parseUrn,
  toArdEntry,
} from '../../src/domain/protocols/cards.ts'
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

const BAD_TOKEN = 'pageToken: expected a token we gave.'
const MAX_BODY_BYTES = 16 * 1024
const URN = /^urn:air:[a-zA-Z0-9.-]+(?::[a-zA-Z0-9._-]+)+$/

type ArdParts = DirectoryParts & ProtocolLimits & BodyBudgets

/**
 * The registry API of ARD 0.91 (§5.3) over our listings. It federates with nobody, whatever a search
 * asks for, and has no `explore`, which is optional.
 */
export function createArdEndpoints(parts: ArdParts) {
  const directory = createDirectory(parts, 'api')
  return {
    ard_search: createSearchEndpoint(parts, createSearch(parts, directory)),
    ard_explore: async ({ req }: H3Event) =>
      req.method === 'POST'
        ? refuse(501, 'This registry has no explore: POST /ard/search with a filter.')
        : refuse(405, ASK_BY_POST, ALLOWED),
    ard_agent: createAgentEndpoint(parts, directory),
  }
}

/** `POST /ard/search`: a page of our listings. */
function createSearch(parts: ArdParts, directory: Directory) {
  const baseUrl = parts.config.BASE_URL
  const findRows = createFinder(parts)
  return async function search(requested: v.InferOutput<typeof ArdSearchSchema>) {
    const { pageSize, pageToken, query } = requested
    const start = Number(readPageToken(pageToken, JSON.stringify(query), BAD_TOKEN) ?? 0)
    const constraints = readConstraints(query, baseUrl)
    const found = await findRows(query, constraints, start + pageSize + 1)
    const shown = found.slice(start, start + pageSize).map(({ id }) => id)
    parts.ledger.usage.searched(shown, 'api')
    const results = await Promise.all(
      shown.map(async (id, at) => {
        // 100 for the first result and falling with its rank: how well it fits, never trust.
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
  'expected a term of ARD, kind, category, rail, tag, or a prefix that the query’s @context binds'

/** Every key of the filter, read in the query's context. */
function readConstraints({ '@context': context, filter }: ArdQuery, baseUrl: string) {
  const readTerm = createTermReader(context, baseUrl)
  return Object.entries(filter).map(([key, given]): Constraint => {
    const iri = readTerm(key)
    if (iri === null) throw new QueryFault(`query.filter.${key}: ${UNBOUND}`)
    return { iri, values: typeof given === 'string' ? [given] : given }
  })
}

/** Our listings that fit, the best first. Without a filter only the first `most` are ranked. */
function createFinder({ release, config }: Pick<ArdParts, 'release' | 'config'>) {
  const terms = createOwnTerms(config.BASE_URL)
  return async ({ text }: ArdQuery, constraints: readonly Constraint[], most: number) => {
    const rows = await release().protocolData.ardRows()
    const ranked = constraints.length === 0 ? most : Number.POSITIVE_INFINITY
    return findIds(release(), text, ranked)
      .flatMap((id) => rows.get(id) ?? [])
      .filter((row) => fitsFilter(row, constraints, terms))
  }
}

/** `GET /ard/agents/{urn}`: one complete entry. */
function createAgentEndpoint(parts: ArdParts, directory: Directory): Handler {
  const baseUrl = parts.config.BASE_URL
  const toRefusal = (status: number, message: string) => ({ errorCode: codeOf(status), message })
  const answer = async ({ pathname }: URL) => {
    const urn = readPathPart(pathname.slice(pathname.lastIndexOf('/') + 1))
    if (!URN.test(urn)) throw new QueryFault('Expected a urn:air: identifier, encoded once.')
    const id = parseUrn(urn, baseUrl)
    const view = id === null ? null : await directory.listing(id)
    const entry = view && toArdEntry(view, baseUrl)
    return entry?.identifier === urn
      ? { body: entry }
      : { status: 404, error: 'No entry of ours has this identifier.' }
  }
  return createReadEndpoint(parts, 'Read by GET.', answer, toRefusal)
}

type Search = ReturnType<typeof createSearch>

/** Reads its JSON body; errors take ARD's own form. */
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

const ASK_BY_POST = 'Ask by POST.'
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
