import { followMoves } from '../listing/listing-states.ts'
import { isJsonObject } from '../wire/json.ts'
import { isSellersOwn, type NamedRow } from './source-row.ts'

/** A listing as people wrote it. */
interface Written {
  id: string
  facts: Readonly<Record<string, unknown>>
}

/** A listing during the placement of rows. */
interface Place {
  id: string
  rows: NamedRow[]
  /** People wrote nothing that distinguishes it from another service, so its id does. */
  isWords: boolean
}

/** The listing of a mark, and whether people wrote the mark. */
interface Marked {
  place: Place
  isWritten: boolean
}

/**
 * Which listing each row of a source belongs to; it depends only on the files, not on import order.
 *
 * A row belongs where people or an earlier import put it. Else a server belongs to the listing that
 * names one of its endpoints, or whose sources name all of them; an API or an agent to the one that
 * shares most of its operations, then to the one for its origin; a skill to the kit of its folder,
 * or of the nearest around it. A listing with only words takes the row that has its id.
 *
 * @returns `taken` are rows by the id of their listing, `waiting` those without one
 *
 * @param rows in the order of precedence
 * @param moves former ids, each with the current one
 * @param opens a row without a listing creates one, as if a reviewer accepted it
 */
export function placeRows(
  listings: readonly Written[],
  rows: readonly NamedRow[],
  { moves, opens = false }: { moves: ReadonlyMap<string, string>; opens?: boolean },
) {
  const places = new Map<string, Place>()
  const byMark = new Map<ListingMark, Marked[]>()
  const byName = new Map<string, Place>()
  for (const { id, facts } of listings) addListing(id, identify(facts))
  const waiting: NamedRow[] = []
  for (const { named, identity } of inTurn(rows)) {
    const place = findPlace(named, identity) ?? (opens ? open(named) : undefined)
    if (place === undefined) waiting.push(named)
    else take(place, named, identity)
  }
  const ranks = new Map(rows.map((row, rank) => [row, rank]))
  const byRank = (a: NamedRow, b: NamedRow) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0)
  const taken = [...places.values()].filter((place) => place.rows.length > 0)
  return {
    taken: new Map(taken.map((place) => [place.id, place.rows.sort(byRank)])),
    waiting: waiting.sort(byRank),
  }

  function addListing(id: string, { marks, refs, origin, isComplete }: Identity): void {
    const place = { id, rows: [], isWords: marks.length === 0 }
    places.set(id, place)
    addMarks(place, marks, true)
    for (const ref of refs) addName(`ref ${ref}`, place)
    if (origin !== null) addName(`origin ${origin}`, place)
    if (isComplete) addName(`whole ${origin}`, place)
  }

  function open({ row }: NamedRow): Place | undefined {
    if (places.has(row.id)) return undefined
    const place = { id: row.id, rows: [], isWords: true }
    places.set(row.id, place)
    return place
  }

  function take(place: Place, named: NamedRow, { marks }: Identity): void {
    place.rows.push(named)
    // A held row's marks must not attract other rows.
    if (named.row.held === undefined) addMarks(place, marks, false)
  }

  function addMarks(place: Place, marks: readonly ListingMark[], isWritten: boolean): void {
    for (const mark of marks) {
      const known = byMark.get(mark) ?? []
      if (!known.some((each) => each.place === place))
        byMark.set(mark, [...known, { place, isWritten }])
    }
  }

  function addName(name: string, place: Place): void {
    if (!byName.has(name)) byName.set(name, place)
  }

  function findPlace({ key, row }: NamedRow, identity: Identity): Place | undefined {
    const decided = places.get(followMoves(moves, row.of ?? '') ?? '')
    if (decided !== undefined) return decided
    const own = places.get(followMoves(moves, row.id) ?? row.id)
    const named = own?.isWords === true ? own : undefined
    // Words that a person has not read yet choose no listing by what they claim.
    return row.held === undefined ? (findByMarks(key, identity) ?? named) : named
  }

  function findByMarks(
    key: string,
    { kind, marks, around, refs, origin, isComplete }: Identity,
  ): Place | undefined {
    if (kind === 'kit') return findKit([...marks, ...around])
    const known = marks.map((mark) => byMark.get(mark) ?? [])
    // A list's README is the source of a hundred servers; an entry with its own key is for one.
    const entry = refs.find((ref) => ref.includes(encodeURIComponent(key)))
    const named = entry === undefined ? undefined : byName.get(`ref ${entry}`)
    if (kind === 'mcp_server') {
      const isAll = known.length > 0 && known.every(({ length }) => length > 0)
      const written = known.flat().find(({ isWritten }) => isWritten)?.place
      return written ?? named ?? (isAll ? known[0]?.[0]?.place : undefined)
    }
    return (
      named ??
      mostOf(known.flat().map(({ place }) => place)) ??
      byName.get(`whole ${origin}`) ??
      (isComplete ? byName.get(`origin ${origin}`) : undefined)
    )
  }

  /** A listing of the skill's own folder, else the nearest that people wrote of a folder around it. */
  function findKit([own, ...around]: readonly ListingMark[]): Place | undefined {
    const [first] = own === undefined ? [] : (byMark.get(own) ?? [])
    const written = around.flatMap((mark) => byMark.get(mark) ?? []).find((each) => each.isWritten)
    return (first ?? written)?.place
  }
}

/**
 * Rows that name operations or packages come before those that name a whole host, and a package's
 * own files after the registry that names it.
 */
function inTurn(rows: readonly NamedRow[]) {
  const all = rows.map((named) => ({ named, identity: identify(named.row.facts) }))
  const turnOf = ({ named, identity }: (typeof all)[number]) =>
    isSellersOwn(named) ? 2 : identity.isComplete ? 1 : 0
  return [0, 1, 2].flatMap((turn) => all.filter((each) => turnOf(each) === turn))
}

/** The first of those named most often. */
function mostOf(places: readonly Place[]): Place | undefined {
  const counts = new Map<Place, number>()
  for (const place of places) counts.set(place, (counts.get(place) ?? 0) + 1)
  const [most] = [...counts].sort(([, m], [, n]) => n - m)
  return most?.[0]
}

/**
 * The identifying marks of a listing, as comparable text: two listings of one kind that share a
 * package, a remote, an operation or an agent's address are the same service in every source.
 */
type ListingMark = string

/** Front matter of a file or facts of a source, by name. */
type Facts = Readonly<Record<string, unknown>>

type Identity = ReturnType<typeof identify>

/** Read leniently: a file that `check` would refuse still must not be listed a second time. */
function identify(facts: Facts) {
  const { kind, url, http, sources } = facts
  const origin = kind === 'http_api' && typeof url === 'string' ? originOf(url) : null
  return {
    kind,
    marks: marksOf(facts),
    /** Marks of what it may be a part of, the nearest first. */
    around: kind === 'kit' && typeof url === 'string' ? foldersOf(url).slice(1) : [],
    refs: textsOf(sources, 'ref'),
    /** For an API; null for any other kind. */
    origin,
    /** It names no operation, so it represents its whole origin. */
    isComplete: origin !== null && textsOf(http, 'url').length === 0,
  }
}

export function marksOf({ kind, url, http, invoke, discovery }: Facts): ListingMark[] {
  const operations = textsOf(http, 'url')
  const own = typeof url === 'string' ? [url] : []
  const isUnnamed = kind === 'http_api' && operations.length === 0
  const agent = kind === 'a2a_agent' ? own.map((address) => `agent ${addressOf(address)}`) : []
  const cards = kind === 'a2a_agent' ? textsOf([discovery], 'agent_card').map(cardMark) : []
  const called = [...operations, ...(isUnnamed ? own : [])].map(operationMark)
  const kit = kind === 'kit' ? own.flatMap((address) => foldersOf(address).slice(0, 1)) : []
  return [...new Set([...called, ...endpointsOf(invoke), ...agent, ...cards, ...kit])]
}

/**
 * The folder of a kit in its public repository, whatever branch its address names, and its parent
 * folders, the nearest first: a kit may be all the skills of one folder.
 *
 * @example foldersOf('https://github.com/acme/kits/tree/main/skills/pdf') →
 *   ['kit github.com/acme/kits/skills/pdf', 'kit github.com/acme/kits/skills', …]
 */
function foldersOf(address: string): ListingMark[] {
  const [, repo, path = ''] =
    /^https:\/\/github\.com\/([\w-]+\/[\w.-]+)(?:\/(?:tree|blob)\/[^/]+(?:\/(.+))?)?$/.exec(
      address.replace(/\/(?:SKILL\.md)?$/, ''),
    ) ?? []
  if (repo === undefined) return []
  const names = path.split('/').filter((name) => name !== '')
  const root = `kit github.com/${repo.toLowerCase()}`
  return [...names.keys(), names.length]
    .map((length) => [root, ...names.slice(0, length)].join('/'))
    .reverse()
}

/** The ways to reach an MCP server. */
export function endpointsOf(invoke: unknown): ListingMark[] {
  return listOf(invoke).flatMap((entry) => {
    const [url] = textsOf([entry], 'url')
    if (url !== undefined) return [`remote ${addressOf(url)}${URL.parse(url)?.search ?? ''}`]
    const [registry] = textsOf([entry], 'registry')
    return textsOf([entry], 'identifier').map(
      (identifier) => `package ${registry} ${toPackage(identifier)}`,
    )
  })
}

/** Names compare without case, images without their tag. */
function toPackage(identifier: string): string {
  return identifier.toLowerCase().replace(/(?::[\w.-]+)?(?:@sha256:[0-9a-f]+)?$/, '')
}

/** The method doesn't count: catalogues omit it, and one address is one service. */
export function operationMark(url: string): ListingMark {
  return `operation ${addressOf(url)}`
}

/** A card is the same under its current and its former well-known name. */
function cardMark(url: string): ListingMark {
  return `card ${addressOf(url).replace(/\/agent\.json$/, '/agent-card.json')}`
}

/**
 * Scheme, host without `www.`, and port: what "the same origin" means across sources.
 *
 * @returns null for a text that is not a URL
 */
export function originOf(text: string): string | null {
  const url = URL.parse(text)
  return url === null ? null : `${url.protocol}//${url.host.replace(/^www\./, '')}`
}

/** Host and path; all spellings of a path's variables are equal. */
function addressOf(text: string): string {
  const url = URL.parse(text)
  if (url === null) return text
  const path = url.pathname
    .replace(/\/(?::[A-Za-z_][\w-]*|%7B[^/]*%7D|\{[^/]*\})(?=\/|$)/gi, '/{}')
    .replace(/\/+$/, '')
  return `${url.host.replace(/^www\./, '')}${path}`
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Texts of that name in a list of members. */
function textsOf(list: unknown, name: string): string[] {
  return listOf(list)
    .filter(isJsonObject)
    .map((row) => row[name])
    .filter((found) => typeof found === 'string')
}
