import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { MapRules, SeedFacts, SeedSource } from '../../seeds/facts/map-rows.ts'
import { parsePage } from '../../seeds/fetch/read-source.ts'
import { a2a } from '../../seeds/sources/a2a.ts'
import { mcpRegistry } from '../../seeds/sources/mcp-registry.ts'
import { mpp } from '../../seeds/sources/mpp.ts'
import { x402Bazaar } from '../../seeds/sources/x402-bazaar.ts'
import type { ListingFacts, Operation } from '../../src/domain/listing/listing-facts.ts'
import { endpointsOf, marksOf, operationMark } from '../../src/domain/sources/listing-marks.ts'
import { memberOf } from '../../src/domain/wire/json.ts'
import { content } from '../support/own-catalogue.ts'

/** Listings that are compared: by the hash of their id, so that content that grows changes few. */
const SAMPLE = 100

const ROOT = join(import.meta.dirname, '../..')
const DATA = join(process.env.SHARED_DIR ?? join(ROOT, '../shared'), 'data')

/** Looked at, and right as we have it. */
const SETTLED = [
  // The registry's row was written from an older read-me; the image listens over HTTP.
  'mcp.osv mcp-registry io.github.stackloklabs/osv-mcp: package oci',
]

interface Listed {
  id: string
  facts: ListingFacts
}

/** What a saved source says of one service, under a name of the source's own. */
interface Saved {
  source: string
  key: string
  facts: SeedFacts
  /** Ids of an agent's skills. */
  skills: ReadonlySet<string>
  /** Every network that its rows name, also those that an importer leaves out. */
  named: string
}

if (!existsSync(DATA)) {
  test.skip('skipped: no data in ../shared (or SHARED_DIR)', () => {})
  console.log('content against saved sources skipped: no data in ../shared (or SHARED_DIR)')
} else
  test('a hundred listings say what the saved sources say', () => {
    const { listings, tables } = content
    const rules = {
      allowPlaceholders: false,
      categories: new Set(tables.categories.map(({ id }) => id)),
      sources: tables.sources,
      now: '2026-11-01T00:00:00Z',
    }
    const saved = readSaved(rules)
    const byMark = new Map<string, Saved[]>()
    for (const row of saved)
      for (const mark of marksOf(row.facts)) byMark.set(mark, [...(byMark.get(mark) ?? []), row])
    const found = listings.flatMap((listing) => {
      const rows = new Set(marksOf(listing.facts).flatMap((mark) => byMark.get(mark) ?? []))
      const compared = [...rows].flatMap((row) => compare(listing, row))
      return compared.length === 0 ? [] : [{ id: listing.id, compared }]
    })
    const sample = found.sort((a, b) => (hashOf(a.id) < hashOf(b.id) ? -1 : 1)).slice(0, SAMPLE)
    const fields = sample.flatMap(({ id, compared }) =>
      compared.map((field) => ({ ...field, text: `${id} ${field.text}` })),
    )
    const wrong = fields
      .filter(({ isSame }) => !isSame)
      .map(({ text }) => text)
      .filter((text) => !SETTLED.some((known) => text.startsWith(known)))
    for (const text of wrong) console.log(`contradiction: ${text}`)
    console.log(
      `${sample.length} listings, ${fields.length} fields, ${wrong.length} contradictions`,
    )
    expect(sample).toHaveLength(SAMPLE)
    expect(wrong).toEqual([])
  })

function readSaved(rules: MapRules): Saved[] {
  const read = (source: SeedSource, ...paths: string[]): Saved[] => {
    const values = paths.flatMap((path) => {
      const text = readFileSync(join(DATA, path), 'utf8')
      return parsePage(text, null, source.shape).values
    })
    const { seeds } = source.choose(values, rules)
    const rows = source === x402Bazaar ? values.map((row) => JSON.stringify(row)) : []
    return seeds.map(({ key, facts, evidence }) => ({
      ...{ source: source.id, key, facts },
      skills: new Set(skillsOf(evidence?.interface)),
      named: source === x402Bazaar ? toNamed(rows, facts) : '',
    }))
  }
  const cards = readdirSync(join(DATA, 'a2a-cards')).filter((name) => name.endsWith('.json'))
  return [
    ...read(x402Bazaar, 'x402-bazaar/resources.sample.json'),
    ...read(mpp, 'mpp/services.json'),
    ...read(mcpRegistry, 'mcp-registry/servers.ndjson'),
    ...read(a2a, ...cards.map((name) => join('a2a-cards', name))),
  ]
}

function skillsOf(read: unknown): string[] {
  const skills = memberOf(read, 'skills')
  return Array.isArray(skills) ? skills.map((skill) => String(memberOf(skill, 'id'))) : []
}

/** The rows of one service, as text. */
function toNamed(rows: readonly string[], { url }: SeedFacts): string {
  const { host } = new URL(url)
  return rows.filter((row) => row.includes(host)).join()
}

interface Compared {
  text: string
  isSame: boolean
}

/** Each field that both speak of. */
function compare({ facts }: Listed, saved: Saved): Compared[] {
  const { source, key, facts: stated, named } = saved
  if (facts.kind !== stated.kind) return []
  if (facts.kind === 'a2a_agent') return compareAgent(facts, saved)
  if (facts.kind === 'mcp_server') return compareServer(facts, stated, `${source} ${key}`)
  return (stated.http ?? []).flatMap((operation) => {
    const own = facts.http.find(
      (each) =>
        operationMark(each.url) === operationMark(operation.url) &&
        (each.method === operation.method || operation.assumed?.includes('method') === true),
    )
    if (own === undefined) return []
    const isOnlySource = facts.sources.every((each) => CATALOGUES.has(each.source))
    return [
      ...compareOperation(own, operation, source),
      ...(isOnlySource ? findUnsaid(own, operation, named) : []),
    ]
  })
}

/** A rail that only one of them speaks of is not a contradiction; a network of the same rail is. */
function compareOperation(own: Operation, stated: Operation, source: string): Compared[] {
  const name = `${own.method} ${new URL(own.url).pathname}`
  return (stated.offers ?? []).flatMap(({ rail, network, min_usd, max_usd }) => {
    const text = `${name} ${rail} on ${network ?? 'no network'}: ${source} says $${min_usd}`
    const onRail = (own.offers ?? []).filter((each) => each.rail === rail)
    if (onRail.length === 0) {
      const { price } = own
      if (price === undefined || price.per !== 'call') return []
      const isSame = price.min_usd <= max_usd && price.max_usd >= min_usd
      return [{ text: `${text}, we say $${price.min_usd} to $${price.max_usd}`, isSame }]
    }
    const offer = onRail.find((each) => each.network === network)
    if (offer === undefined) return [{ text: `${text}, we name no such network`, isSame: false }]
    if (own.price?.per !== stated.price?.per) return []
    // What is asked for decides such a price, and a catalogue saw one of them.
    const isOpen = offer.max_usd >= 10 * offer.min_usd
    const isSame = isOpen
      ? offer.min_usd <= max_usd && offer.max_usd >= min_usd
      : offer.min_usd === min_usd && offer.max_usd === max_usd
    return [{ text: `${text}, we say $${offer.min_usd} to $${offer.max_usd}`, isSame }]
  })
}

/** The catalogues of paid operations. What a listing adds to them it has from elsewhere. */
const CATALOGUES = new Set(['cdp_bazaar', 'mpp_services'])

/** Networks of x402 that the catalogue does not name. */
function findUnsaid(own: Operation, stated: Operation, named: string): Compared[] {
  if (named === '') return []
  return (own.offers ?? [])
    .filter(({ rail, network }) => rail === 'x402' && network !== undefined)
    .map(({ network = '' }) => ({
      text: `${own.method} ${new URL(own.url).pathname}: we offer x402 on ${network}, the Bazaar does not`,
      isSame:
        (stated.offers ?? []).some((offer) => offer.network === network) ||
        (stated.offers ?? []).length === 0 ||
        isDropped(named, network, stated),
    }))
}

/** Named in the rows, and in no offer of the importer's: it knows no price of that asset. */
function isDropped(named: string, network: string, { url }: Operation): boolean {
  const row = named.split('{"resource":').find((text) => text.startsWith(JSON.stringify(url)))
  return row?.includes(`"${network}"`) === true
}

/** The same remote or package, and what the source says of it. */
function compareServer(facts: ListingFacts, stated: SeedFacts, name: string): Compared[] {
  return (stated.invoke ?? []).flatMap((entry) => {
    const [mark] = endpointsOf([entry])
    const own = facts.invoke.find((each) => endpointsOf([each])[0] === mark)
    if (own === undefined) return []
    const isSame = own.kind === entry.kind && own.transport === entry.transport
    return [{ text: `${name}: ${mark} over ${entry.transport}, we say ${own.transport}`, isSame }]
  })
}

/** An agent's listing is named by its page, and known by its card. */
function compareAgent(facts: ListingFacts, { facts: stated, skills }: Saved): Compared[] {
  const card = stated.discovery?.agent_card
  if (card === undefined || card !== facts.discovery.agent_card) return []
  const auth = stated.auth?.type ?? 'unknown'
  const own = facts.auth.type
  const isStated = auth !== 'unknown' && own !== 'unknown'
  return [
    ...(isStated ? [{ text: `auth is ${auth}, we say ${own}`, isSame: auth === own }] : []),
    ...(facts.skills ?? []).map(({ id }) => ({
      text: `we list the skill ${id}, its card does not`,
      isSame: skills.size === 0 || skills.has(id),
    })),
  ]
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
