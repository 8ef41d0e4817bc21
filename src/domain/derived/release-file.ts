import * as v from 'valibot'
import { SharedHostsSchema } from '../owners/claim-rules.ts'
import { AgesSchema } from '../trust/age.ts'
import { NotListedSchema } from '../unlisted/not-listed.ts'
import { count } from '../wire/shapes.ts'
import { AlsoSearchSchema, SiteTextsSchema } from './tables.ts'

const choices = v.array(v.strictObject({ id: v.string(), name: v.string(), listings: count }))

/** The search page's filters, with counts: data, so that new content needs no new code. */
export const SearchChoicesSchema = v.strictObject({
  kinds: v.record(v.string(), count),
  rails: v.record(v.string(), count),
  categories: choices,
  sources: choices,
  ages: AgesSchema,
})
export type SearchChoices = v.InferOutput<typeof SearchChoicesSchema>

const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

/** `release.json`: describes a release, written last. */
export const ReleaseFileSchema = v.strictObject({
  /** Of everything it is made from: the same inputs are the same release. */
  digest: v.string(),
  base_url: v.string(),
  shared_hosts: SharedHostsSchema,
  texts: SiteTextsSchema,
  also_search: v.array(AlsoSearchSchema),
  search_choices: SearchChoicesSchema,
  not_listed: v.optional(v.array(NotListedSchema), []),
  /** Hosts that listings are called at, in addition to those of their own addresses. */
  other_hosts: v.optional(v.array(v.tuple([v.string(), v.string()])), []),
  tasks: v.array(
    v.strictObject({
      ...{ id: v.string(), name: v.string(), page: v.string() },
      ...{ sellers: v.number(), min_usd: v.nullable(v.number()) },
    }),
  ),
  /** Of `public`: how many, and their length together. */
  files: v.strictObject({ count, bytes: count }),
  /** Hex SHA-256 of each file that a server loads, by its path. */
  checksums: v.record(v.string(), sha256),
})
export type ReleaseFile = v.InferOutput<typeof ReleaseFileSchema>
