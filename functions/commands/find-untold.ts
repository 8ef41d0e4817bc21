import { readFileSync } from 'node:fs'
import type { ListingFacts } from '../../src/domain/listing/listing-facts.ts'
import { isJsonObject, parseJson } from '../../src/domain/wire/parse-json.ts'

/** Where a row of a catalogue says what it sells is called, and whose it is. */
const ADDRESSES = ['serviceUrl', 'resource', 'base_url', 'endpoint', 'url']
/** Under which a page holds its rows. */
const LISTS = ['services', 'resources', 'items', 'data']

/** Hosts that a catalogue names and that have neither a listing nor a reason, with the rows read. */
export function findUntold(
  catalogue: string,
  listings: readonly { facts: Pick<ListingFacts, 'url' | 'http' | 'invoke'> }[],
  reasons: string,
): { rows: number; untold: string[] } {
  const told = new Set([...reasons.matchAll(/^- `([^`]+)`$/gm)].map(([, name = '']) => name))
  const urls = listings.flatMap(({ facts }) => [
    facts.url,
    ...facts.http.map(({ url }) => url),
    ...facts.invoke.flatMap((each) => (each.kind === 'mcp' ? [each.url] : [])),
  ])
  for (const name of urls.flatMap(namesOf)) told.add(name)
  const rows = readRows(readFileSync(catalogue, 'utf8'))
  const named = rows.flatMap((row) => ADDRESSES.map((name) => namesOf(String(row[name]))))
  const untold = named.filter(([host, place = '']) => host && !told.has(host) && !told.has(place))
  return { rows: rows.length, untold: [...new Set(untold.map(([host = '']) => host))].sort() }
}

/** @example namesOf('https://www.hub.example/tides/now') → ['hub.example', 'hub.example/tides'] */
function namesOf(address: string): string[] {
  const url = URL.parse(address)
  if (url === null) return []
  const host = url.host.replace(/^www\./, '')
  return [host, `${host}/${url.pathname.split('/')[1]}`]
}

/** A list, a page around one, or a row a line. */
function readRows(text: string): Record<string, unknown>[] {
  const whole = parseJson(text)
  const lists = isJsonObject(whole) ? LISTS.map((name) => whole[name]) : [whole]
  const list = lists.find(Array.isArray) ?? text.split('\n').map(parseJson)
  return list.filter(isJsonObject)
}
