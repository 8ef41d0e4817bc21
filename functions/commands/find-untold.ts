import { readFileSync } from 'node:fs'
import type { ListingFacts } from '../../src/domain/listing/listing-facts.ts'
import { isJsonObject, parseJson } from '../../src/domain/wire/parse-json.ts'

/** Where a row of a catalogue says what it sells is called, the surest name first. */
const ADDRESSES = ['serviceUrl', 'resource', 'base_url', 'endpoint', 'url']
/** Under which a page holds its rows. */
const LISTS = ['services', 'resources', 'items', 'data']

/**
 * Hosts where a catalogue says something is sold, and that have neither a listing nor a reason.
 *
 * @returns them with the rows read, and the hosts that rows name as their maker's site alone
 */
export function findUntold(
  catalogue: string,
  listings: readonly { facts: Pick<ListingFacts, 'url' | 'http' | 'invoke'> }[],
  reasons: string,
): { rows: number; untold: string[]; makers: string[] } {
  const told = new Set([...reasons.matchAll(/^- `([^`]+)`$/gm)].map(([, name = '']) => name))
  const urls = listings.flatMap(({ facts }) => [
    facts.url,
    ...facts.http.map(({ url }) => url),
    ...facts.invoke.flatMap((each) => (each.kind === 'mcp' ? [each.url] : [])),
  ])
  for (const name of urls.flatMap(namesOf)) told.add(name)
  const rows = readRows(readFileSync(catalogue, 'utf8')).flatMap((row) => {
    const [first, ...others] = ADDRESSES.flatMap((name) => toAddress(row[name]))
    return first === undefined ? [] : [{ sold: namesOf(first), others: others.map(namesOf) }]
  })
  const isUntold = (names: readonly string[]) => !names.some((name) => told.has(name))
  const untold = toHosts(rows.map(({ sold }) => sold).filter(isUntold))
  const sites = toHosts(rows.flatMap(({ others }) => others).filter(isUntold))
  const makers = sites.filter((host) => !untold.includes(host))
  return { rows: rows.length, untold, makers }
}

function toAddress(value: unknown): string[] {
  return typeof value === 'string' ? [value] : []
}

function toHosts(names: readonly (readonly string[])[]): string[] {
  return [...new Set(names.map(([host = '']) => host))].sort()
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
