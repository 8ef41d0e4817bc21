import * as v from 'valibot'
import { DISCOVERY_FILES, KINDS, RAILS } from '../domain/wire/vocabulary.ts'

/**
 * What the build hands to the search index, one for each listing.
 *
 * `body` is the UTF-8 JSON of the listing summary as the interface specification describes it,
 * written once at build time so that a response only copies bytes. Two members differ in every
 * response and are added then, so the builder leaves both out: `relevance`, and `go` inside
 * `links`. For that to be a plain append, `links` is the **last** member of the object and is not
 * empty. `id` is the **first**, written without spaces: `{"id":"…","buy":"link_out","links":{"listing":"…",…}}`. `buildSearchIndex`
 * refuses anything else. Key order means nothing in JSON, so readers see the specified object.
 */
export const SearchDocumentSchema = v.object({
  id: v.string(),
  name: v.string(),
  kind: v.picklist(KINDS),
  summary: v.string(),
  url: v.string(),
  tags: v.array(v.string()),
  categories: v.array(v.string()),
  rails: v.array(v.picklist(RAILS)),
  sources: v.array(v.string()),
  has: v.array(v.picklist(DISCOVERY_FILES)),
  /** Lowest listed price in USD; null where it is unknown. */
  minUsd: v.nullable(v.number()),
  /** 0 to 100; null without payment evidence. */
  trustScore: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100))),
  /** Independent paying buyers in 30 days; 0 where nothing is known. */
  verifiedBuyers: v.pipe(v.number(), v.integer(), v.minValue(0)),
  liveTested: v.boolean(),
  /** Can be called over the network: every `http_api` and `a2a_agent`, an `mcp_server` with a remote. */
  remote: v.boolean(),
  firstParty: v.boolean(),
  body: v.instance(Uint8Array),
})

export type SearchDocument = v.InferOutput<typeof SearchDocumentSchema>
