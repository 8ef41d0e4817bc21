import { isJsonObject } from '../../src/domain/wire/parse-json.ts'
import { hasComment, replaceField } from '../content/listing-text.ts'
import { hashValue, type LockEntry, NO_MEMORY } from '../content/seed-lock.ts'
import type { Seed } from '../facts/seed-facts.ts'
import { findHandMade, listTellers, READER } from './list-tellers.ts'
import { toSaidFacts } from './merge-listing.ts'
import { type Group, placeTellers, type Teller } from './place-tellers.ts'
import { type LeftRows, planGroup } from './plan-group.ts'
import { planReviewOfSeed } from './plan-review.ts'
import { findWithdrawn, isEdited, planVacated, planWithdrawn } from './plan-withdrawals.ts'
import { type Draft, keep, type SeedingInput, type SeedingPlan, settle } from './seeding-plan.ts'

/** What seeding would do; pure, so that a dry run and a run can't differ. */
export function planSeeding(input: SeedingInput): SeedingPlan {
  const { source, memories, isWhole, seeds, held } = input
  const memory = memories.get(source.id) ?? NO_MEMORY
  const entries = new Map([...memories].map(([id, { listings }]) => [id, new Map(listings)]))
  const own = entries.get(source.id) ?? new Map<string, LockEntry>()
  const draft: Draft = {
    input,
    files: new Map(),
    entries: entries.set(source.id, own),
    own,
    outcomes: [],
    kept: [],
    editedFields: [],
    refused: [],
    withdrawn: [],
  }
  if (source.id === READER) for (const seed of seeds) planInto(draft, seed, seed.into ?? '')
  else planTold(draft)
  for (const seed of input.isListedOnly ? [] : held) planReviewOfSeed(draft, seed)
  return toPlan(draft, isWhole ? seeds.length : memory.taken)
}

/** All sources are decided together; planned are the files that this run changes something of. */
function planTold(draft: Draft): void {
  const gone = findWithdrawn(draft)
  const tellers = listTellers(draft, gone)
  const groups = placeAll(draft, tellers)
  const left = [...findLeft(groups), ...[...gone.values()].map(toLeft)]
  for (const group of groups) {
    const isTold = group.tellers.some(({ seed, at }) => seed !== null || at !== group.file)
    if (isTold || left.some(({ file }) => file === group.file)) planGroup(draft, group, left)
  }
  planVacated(draft, groups)
  planWithdrawn(draft, gone)
}

function findLeft(groups: readonly Group[]): LeftRows[] {
  return groups.flatMap((group) =>
    group.tellers.flatMap(({ at, facts }) =>
      at === null || at === group.file ? [] : [{ file: at, sources: facts()?.sources ?? [] }],
    ),
  )
}

function toLeft({ file, said }: LockEntry): LeftRows {
  return { file, sources: toSaidFacts(said ?? {})?.sources ?? [] }
}

/** What people edited keeps its address: a source that would have moved it to another brings that one here. */
function placeAll(draft: Draft, tellers: readonly Teller[]): Group[] {
  const handMade = findHandMade(draft, tellers)
  const groups = placeTellers(tellers, handMade)
  const edited = groups.flatMap(({ file, isHandMade, tellers: told }) =>
    told.flatMap(({ at, wrote }) => {
      const there =
        at === null || at === file || isHandMade ? undefined : draft.input.existing.get(at)
      return there !== undefined && isEdited(draft, there, wrote) ? [there] : []
    }),
  )
  return edited.length === 0 ? groups : placeTellers(tellers, handMade, edited)
}

/** Adds what a seller publishes about itself to its listing; what people wrote stands. */
function planInto(draft: Draft, seed: Seed, file: string): void {
  const there = draft.input.existing.get(file)
  if (there === undefined || there.text === null || there.fields === null) {
    keep(draft, seed, file, 'left_as_is')
    return
  }
  const listed: unknown = there.fields.get('discovery')
  const known = draft.own.get(seed.key)?.wrote ?? {}
  const kept = isJsonObject(listed) ? listed : {}
  // A file that a person took out again stays out.
  const added = Object.entries(seed.facts.discovery ?? {}).filter(
    ([name]) => !(name in kept) && known[name] === undefined,
  )
  if (added.length > 0 && !hasComment(there.text, 'discovery')) {
    const discovery = { ...kept, ...Object.fromEntries(added) }
    draft.files.set(file, replaceField(there.text, 'discovery', discovery))
  }
  const wrote = Object.fromEntries(added.map(([name, url]) => [name, hashValue(url)]))
  draft.own.set(seed.key, { file, wrote: { ...known, ...wrote } })
  settle(draft, seed, file, 'merged')
}

function toPlan({ input, files, entries, own, ...plan }: Draft, taken: number | null): SeedingPlan {
  const { existing, memories } = input
  const texts = [...files].sort(([a], [b]) => (a < b ? -1 : 1))
  const written = texts.flatMap(([file, text]) => (text === null ? [] : [{ file, text }]))
  const isListing = ({ file }: { file: string }) => file.startsWith('listings/')
  const others = new Map(
    [...memories].flatMap(([id, memory]) => {
      const listings = entries.get(id) ?? own
      const isSame = [...listings].every(([key, entry]) => memory.listings.get(key) === entry)
      return listings === own || isSame ? [] : [[id, { ...memory, listings }]]
    }),
  )
  return {
    ...plan,
    outcomes: plan.outcomes.sort((a, b) => (a.key < b.key ? -1 : 1)),
    writes: written
      .filter(isListing)
      .map(({ file, text }) => ({ file, text, isNew: !existing.has(file) })),
    machineWrites: written.filter((each) => !isListing(each)),
    removes: texts.flatMap(([file, text]) => (text === null ? [file] : [])),
    memory: { taken, listings: own },
    others,
  }
}
