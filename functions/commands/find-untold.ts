import { readFileSync } from 'node:fs'
import type { ListingFacts } from '../../src/domain/listing/listing-facts.ts'
import { isJsonObject, parseJson } from '../../src/domain/wire/parse-json.ts'

/** Where a row of a catalogue says what it sells is called, the surest name first. */
const ADDRESSES = ['serviceUrl', 'resource', 'base_url', 'endpoint', 'url']
/** Under which a page holds its rows. */
const LISTS = ['services', 'resources', 'items', 'data']

/** Hosts of a catalogue that have neither a listing nor a reason, with the rows read. */
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
  const rows = readRows(readFileSync(catalogue, 'utf8')).flatMap((row) => {
    const address = ADDRESSES.map((name) => row[name]).find((each) => typeof each === 'string')
    return typeof address === 'string' ? [namesOf(address)] : []
  })
  const untold = rows.filter((names) => !names.some((name) => told.has(name)))
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
