import * as v from 'valibot'
import { withAsciiHosts } from '../../src/domain/listing/target-url.ts'
import { marksOf } from '../../src/domain/sources/listing-marks.ts'
import { isJsonObject } from '../../src/domain/wire/parse-json.ts'
import { addressSlug } from '../text/address-slug.ts'
import { guessCategories } from '../text/guess-categories.ts'
import type { Fault, Refusal } from './refusal.ts'
import { findSeedFault, type Seed, type SeedFacts } from './seed-facts.ts'
import type { ChosenSeeds, MapRules } from './seed-source.ts'
import { toSeedTags, toSeedTexts } from './seed-texts.ts'

export type MappedSeed =
  | { ok: true; seed: Seed; dropped: readonly Refusal[] }
  /** `held` is what would be listed if a reviewer found nothing wrong with its words. */
  | { ok: false; refusal: Refusal; held?: Seed }

/** @param key the member that names a row */
export function parseRow<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  key: string,
): { row: v.InferOutput<Schema> } | { ok: false; refusal: Refusal } {
  const result = v.safeParse(schema, withAsciiHosts(value))
  if (result.success) return { row: result.output }
  const name = isJsonObject(value) && typeof value[key] === 'string' ? value[key] : `(no ${key})`
  return refuse(name.slice(0, 250), {
    reason: 'invalid_row',
    detail: describeIssue(result.issues[0], 'row'),
  })
}

/** @param whole the error where no single member is wrong */
export function describeIssue(issue: v.BaseIssue<unknown>, whole: string): string {
  return `${v.getDotPath(issue) ?? whole}: ${issue.message}`
}

export function refuse(name: string, { reason, ...about }: Omit<Refusal, 'name'>) {
  return { ok: false as const, refusal: { reason, name, ...about } }
}

/** Facts of every API that a catalogue of paid ones lists. */
export const PAID_API = { kind: 'http_api', cost: 'paid', auth: { type: 'payment' } } as const

/** A source's facts of one service, member by member: the table that an importer fills in. */
export interface Told extends Partial<Omit<Seed, 'facts'>> {
  /** Its key in the source. */
  key: string
  prefix: Seed['prefix']
  /** Its names, best first. */
  names: readonly Foreign[]
  /** Its own descriptions, best first. */
  said: readonly Foreign[]
  tags?: readonly unknown[]
  /** Text for guessing its categories, in addition to its name, its description and its tags. */
  words?: readonly Foreign[]
  /** Or why there are none that can be listed. */
  facts: Omit<SeedFacts, 'name' | 'summary' | 'categories' | 'tags'> | Fault
  /** Parts of it that are left out. */
  dropped?: readonly Refusal[]
}
type Foreign = string | null | undefined

/** The mapping that all importers share: only a valid listing with harmless words goes on. */
export function mapTold({ dropped, ...told }: Told, rules: MapRules): MappedSeed {
  const seed = toSeed(told, rules)
  if (!('reason' in seed)) return finishSeed(seed, dropped)
  return refuse(told.key, { ...seed, rows: told.rows ?? 1 })
}

/** @returns its seed, or why it is not one */
export function toSeed(
  { names, said, words = [], facts, tags: foreign = [], ...told }: Told,
  rules: MapRules,
): Seed | Fault {
  const texts = toSeedTexts(names, said)
  if ('reason' in texts) return texts
  if ('reason' in facts) return facts
  const { name, summary, description, suspicious } = texts
  const tags = toSeedTags(foreign)
  const all = [description, ...tags, ...words].join(' ')
  const categories = guessCategories(name, all, rules.categories)
  return {
    slug: addressSlug(facts.url),
    published: null,
    rows: 1,
    suspicious,
    ...told,
    facts: { name, summary, categories, ...(tags.length > 0 && { tags }), ...facts },
  }
}

/** A seed, if its own members and its words are fine. */
export function finishSeed(seed: Seed, dropped: readonly Refusal[] = []): MappedSeed {
  const { key, rows, suspicious } = seed
  const fault = findSeedFault(seed)
  if (fault !== null) return refuse(key, { reason: 'invalid_listing', detail: fault, rows })
  if (suspicious === undefined) return { ok: true, seed, dropped }
  const detail = `expected a description, got ${JSON.stringify(suspicious)}`
  return { ...refuse(key, { reason: 'instruction_like_text', detail, rows }), held: seed }
}

/** Maps rows of one shape to listings, each on its own. @param key the member that names a row */
export function chooseRows<Schema extends v.GenericSchema>(
  schema: Schema,
  key: string,
  map: (row: v.InferOutput<Schema>, rules: MapRules) => MappedSeed,
) {
  return (values: readonly unknown[], rules: MapRules): ChosenSeeds =>
    gatherSeeds(
      values.map((value) => {
        const parsed = parseRow(schema, value, key)
        return 'row' in parsed ? map(parsed.row, rules) : parsed
      }),
    )
}

/** How to tell that two seeds of a source are the same service, unless it says so itself. */
const BY_ANY_MARK = {
  /** The first of two in this order stays, whatever order the source had. */
  rankOf: ({ key }: Seed) => key,
  marksOf: ({ key, facts }: Seed): readonly string[] => [`key ${key}`, ...marksOf(facts)],
  /** Whether a seed that shares one mark is dropped, or only one that shares them all. */
  isAnyEnough: true,
}

/** The last step of `choose`: mapped rows sorted by their outcome, each service once. */
export function gatherSeeds(mapped: readonly MappedSeed[], same = BY_ANY_MARK): ChosenSeeds {
  const owners = new Map<string, string>()
  const inOrder = mapped
    .filter((each) => each.ok)
    .map((each) => ({ each, rank: same.rankOf(each.seed) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
  const judged = inOrder.map(({ each }): MappedSeed => {
    const { key, rows } = each.seed
    const marks = same.marksOf(each.seed)
    const taken = marks.filter((mark) => owners.has(mark))
    if (taken.length > 0 && (same.isAnyEnough || taken.length === marks.length)) {
      const others = new Set(taken.map((mark) => owners.get(mark)))
      const detail = `expected a service of its own; ${taken.join(', ')} is ${[...others].join(', ')}`
      return refuse(key, { reason: 'same_endpoints', detail, rows })
    }
    for (const mark of marks) if (!owners.has(mark)) owners.set(mark, key)
    return each
  })
  const listed = judged.filter((each) => each.ok)
  const refused = [...mapped, ...judged].filter((each) => !each.ok)
  return {
    seeds: listed.map(({ seed }) => seed).sort((a, b) => (a.key < b.key ? -1 : 1)),
    refused: refused.map(({ refusal }) => refusal),
    dropped: listed.flatMap(({ dropped }) => dropped),
    held: refused.flatMap(({ held }) => held ?? []),
    deleted: [],
  }
}
