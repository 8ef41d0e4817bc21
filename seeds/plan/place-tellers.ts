import type { ExistingListing } from '../content/listing-text.ts'
import type { Identity, ListingMark } from '../facts/listing-marks.ts'
import type { Seed, SeedFacts } from '../facts/seed-facts.ts'

/** What one source says of one service: in this run, or when it was last read. */
export interface Teller extends Identity {
  importer: string
  key: string
  /** The file it would have by itself. */
  own: string
  /** The file it was in; null for what is new. */
  at: string | null
  /** Of this run. */
  seed: Seed | null
  /** Hash of each field's value as it was last written. */
  wrote: Readonly<Record<string, string>>
  /** Null where a person left nothing of it that is a listing. */
  facts(): SeedFacts | null
}

/** A listing, and everybody who tells of it, in the order of precedence. */
export interface Group {
  file: string
  isHandMade: boolean
  tellers: Teller[]
}

/**
 * Who tells of the same listing. Everybody is placed anew, the remembered ones too, as if all sources
 * were read in one go in the order of precedence: so the order in which they were read shows nowhere.
 *
 * A server: one shared endpoint is enough where a person wrote the file; otherwise it joins those who
 * offer everything it offers. An API or an agent joins those it shares most operations with, then
 * those at its own address. A person's listing of an API that names no operation stands for its whole
 * origin, and one that names none joins a person's listing at its origin.
 *
 * @param tellers in the order of precedence
 * @param handMade listings of people, sorted by file; they keep their address
 * @param edited those that people edited, likewise
 */
export function placeTellers(
  tellers: readonly Teller[],
  handMade: readonly ExistingListing[],
  edited: readonly ExistingListing[] = [],
): Group[] {
  const byMark = new Map<ListingMark, Group[]>()
  const byName = new Map<string, Group>()
  const fixed = new Map<string, Group>()
  for (const there of edited) name(there.file, fix(there, false))
  for (const there of handMade) {
    const group = fix(there, true)
    for (const ref of there.refs) name(`ref ${ref}`, group)
    name(`origin ${there.origin}`, group)
    if (there.isWhole) name(`whole ${there.origin}`, group)
  }
  const groups = new Set<Group>()
  for (const teller of tellers) {
    const group = fixed.get(teller.at ?? '') ?? find(teller) ?? createGroup(teller.own, false)
    group.tellers.push(teller)
    mark(group, teller)
    if (!group.isHandMade) name(teller.own, group)
    groups.add(group)
  }
  return [...groups]

  function fix(there: ExistingListing, isHandMade: boolean): Group {
    const group = createGroup(there.file, isHandMade)
    fixed.set(there.file, group)
    mark(group, there)
    return group
  }

  function mark(group: Group, { marks }: Identity): void {
    for (const each of new Set(marks)) {
      const known = byMark.get(each) ?? []
      if (!known.includes(group)) byMark.set(each, [...known, group])
    }
  }

  function name(text: string, group: Group): void {
    if (!byName.has(text)) byName.set(text, group)
  }

  function find(teller: Teller): Group | undefined {
    const { kind, own, origin, isWhole, key, refs, at } = teller
    const known = teller.marks.map((each) => (byMark.get(each) ?? []).filter(isOpen))
    // A list's README is the source of a hundred servers; an entry that names its key is one's.
    const entry = refs.find((ref) => ref.includes(encodeURIComponent(key)))
    const people = at === null ? byName.get(`ref ${entry}`) : undefined
    const shared =
      kind === 'mcp_server'
        ? (known.flat().find(({ isHandMade }) => isHandMade) ??
          people ??
          (known.every(({ length }) => length > 0) ? known[0]?.[0] : undefined))
        : (people ?? mostOf(known.flat()))
    const near = [own, `whole ${origin}`, ...(isWhole ? [`origin ${origin}`] : [])]
    return shared ?? near.flatMap((each) => byName.get(each) ?? []).find(isOpen)

    /** What has a file of its own is not moved into a person's, whatever that comes to hold. */
    function isOpen({ isHandMade }: Group): boolean {
      return !isHandMade || at === null
    }
  }
}

function createGroup(file: string, isHandMade: boolean): Group {
  return { file, isHandMade, tellers: [] }
}

/** The first of those named most often. */
function mostOf(groups: readonly Group[]): Group | undefined {
  const counts = new Map<Group, number>()
  for (const group of groups) counts.set(group, (counts.get(group) ?? 0) + 1)
  const [most] = [...counts].sort(([, m], [, n]) => n - m)
  return most?.[0]
}
