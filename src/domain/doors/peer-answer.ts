import * as v from 'valibot'
import { findUrlFault, type UrlRules } from '../listing/target-url.ts'
import { toInertLine } from '../probe/read/inert-text.ts'
import { parseJson } from '../wire/parse-json.ts'
import { type Constraint, fitsFilter, PEER_TERMS, publisherOf } from './ard-query.ts'

/** Results taken of one peer; it is asked for no more. */
export const MOST_OF_PEER = 20
const MOST_NAMES = 20
/** Of reciprocal rank fusion, from its paper: first places count, and not too much. */
const RANK_OFFSET = 60

/** Foreign text in one line, without markup: it is shown to people and models, who may obey it. */
const line = (most: number) =>
  v.pipe(
    v.string(),
    v.transform((text) => toInertLine(text.slice(0, 4 * most).replace(MARKUP, ' '), most)),
  )
const MARKUP = /<[/!?a-z][^>]*>?/gi
const names = v.pipe(
  v.array(v.unknown()),
  v.transform((list) => list.slice(0, MOST_NAMES).filter((name) => typeof name === 'string')),
  v.array(line(60)),
)

/** An inline card of an MCP server, cut to how it is reached. */
const CardSchema = v.object({
  name: line(200),
  version: v.optional(line(60)),
  remotes: v.pipe(
    v.array(v.object({ type: v.picklist(['streamable-http', 'sse']), url: v.string() })),
    v.maxLength(5),
  ),
})

/** Of what a peer says, what helps to choose. Its word on trust and scores is not passed on. */
const PeerResultSchema = v.object({
  identifier: v.pipe(
    v.string(),
    v.maxLength(300),
    v.regex(/^urn:air?:[a-zA-Z0-9.-]+(?::[a-zA-Z0-9._-]+)+$/),
    // The name until the middle of 2026, which many registries still send.
    v.transform((urn) => urn.replace(/^urn:ai:/, 'urn:air:')),
  ),
  displayName: v.optional(line(200)),
  type: v.optional(v.pipe(v.string(), v.maxLength(120), v.regex(/^[\w.+-]+\/[\w.+-]+$/))),
  url: v.optional(v.string()),
  data: v.optional(v.fallback(v.union([CardSchema, v.undefined()]), undefined)),
  description: v.optional(line(500)),
  version: v.optional(line(60)),
  tags: v.optional(names, []),
  capabilities: v.optional(names),
})
export type PeerResult = v.InferOutput<typeof PeerResultSchema>

const AnswerSchema = v.object({ results: v.array(v.unknown()) })

export interface PeerRules extends UrlRules {
  /** Of this directory: nobody else speaks for it. */
  hostname: string
  constraints: readonly Constraint[]
}

/** @returns the entries of a peer's answer that may be shown; null where it cannot be read */
export function readPeerAnswer(text: string, rules: PeerRules): PeerResult[] | null {
  const answer = v.safeParse(AnswerSchema, parseJson(text))
  if (!answer.success) return null
  const judged = rules.constraints.filter(({ iri }) => PEER_TERMS.has(iri))
  return answer.output.results.slice(0, MOST_OF_PEER).flatMap((result) => {
    const parsed = v.safeParse(PeerResultSchema, result)
    if (!parsed.success) return []
    const { identifier, url, data } = parsed.output
    const addresses = url === undefined ? (data?.remotes.map((remote) => remote.url) ?? []) : [url]
    const isSound = addresses.every((address) => findUrlFault(address, rules) === null)
    const isOthers = publisherOf(identifier) !== rules.hostname
    if (!isSound || !isOthers || !fitsFilter(parsed.output, judged, PEER_TERMS)) return []
    const { data: _, ...referenced } = parsed.output
    return [url === undefined ? parsed.output : referenced]
  })
}

/** By reciprocal rank: what two lists hold counts twice; of equals the earlier list's is first. */
export function fuseRanks<Entry extends Pick<PeerResult, 'identifier' | 'url' | 'data'>>(
  lists: readonly (readonly Entry[])[],
): Entry[] {
  const fused = new Map<string, { entry: Entry; score: number }>()
  for (const list of lists) {
    const byKey = new Map<string, { entry: Entry; rank: number }>()
    for (const [rank, entry] of list.entries()) {
      const key = JSON.stringify([entry.identifier, entry.url, entry.data])
      // An entry that a list repeats counts once.
      if (!byKey.has(key)) byKey.set(key, { entry, rank })
    }
    for (const [key, { entry, rank }] of byKey) {
      const known = fused.get(key) ?? { entry, score: 0 }
      fused.set(key, { ...known, score: known.score + 1 / (RANK_OFFSET + rank + 1) })
    }
  }
  return [...fused.values()].sort((a, b) => b.score - a.score).map(({ entry }) => entry)
}
