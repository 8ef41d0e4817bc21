import { readFileSync } from 'node:fs'
import type { ListingFacts } from '../../src/domain/listing/listing-facts.ts'
import { listedPlaces, type NotListed, placesOf } from '../../src/domain/unlisted/not-listed.ts'
import { isJsonObject, parseJson } from '../../src/domain/wire/json.ts'

/** The fields of a catalogue row that hold the name of the service and its operator. */
const ADDRESSES = ['serviceUrl', 'resource', 'base_url', 'endpoint', 'url']
/** Keys that hold a page's rows. */
const LISTS = ['services', 'resources', 'items', 'data']

/** Hosts that a catalogue names without a listing or a reason here, and the rows read. */
export function findUnlistedHosts(
  catalogue: string,
  listings: readonly { facts: Pick<ListingFacts, 'url' | 'http' | 'invoke'> }[],
  reasons: readonly NotListed[],
): { rows: number; unlisted: string[] } {
  const reported = new Set([
    ...reasons.flatMap(({ hosts }) => hosts),
    ...listings.flatMap(({ facts }) => listedPlaces(facts)),
  ])
  const rows = readRows(readFileSync(catalogue, 'utf8'))
  const named = rows.flatMap((row) => ADDRESSES.map((name) => placesOf(String(row[name]))))
  const unlisted = named.filter(
    (places) => places.length > 0 && !places.some((at) => reported.has(at)),
  )
  return {
    rows: rows.length,
    unlisted: [...new Set(unlisted.flatMap(([, host = '']) => host))].sort(),
  }
}

/** A list, a page that holds one, or one row per line. */
function readRows(text: string): Record<string, unknown>[] {
  const whole = parseJson(text)
  const lists = isJsonObject(whole) ? LISTS.map((name) => whole[name]) : [whole]
  const list = lists.find(Array.isArray) ?? text.split('\n').map(parseJson)
  return list.filter(isJsonObject)
}
