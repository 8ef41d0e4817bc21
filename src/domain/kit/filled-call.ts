import type { DerivedListing } from '../derived/derived-listing.ts'
import { encodeBody } from '../listing/operation.ts'
import { callPath } from '../wire/links.ts'
import { isAtAddress } from '../wire/text.ts'
import type { HttpMethod, Rail } from '../wire/vocabulary.ts'
import { chooseOperation, type KitOperation, toKitOperations } from './kit-entries.ts'

/** A caller's input to a call through the relay; the operation provides the rest. */
interface RequestedCall {
  method?: HttpMethod | undefined
  /** A path with its query, or a URL on the seller's host. */
  endpoint?: string | undefined
  /** Query parameters; each replaces the endpoint's parameter of the same name. */
  query?: string | Readonly<Record<string, string | number | boolean>> | undefined
  headers?: Readonly<Record<string, string>> | undefined
  body?: unknown
}

type CalledOperation = Pick<
  KitOperation,
  'method' | 'url' | 'price' | 'offers' | 'relay_url' | 'example' | 'task' | 'result'
>

export interface FilledCall extends RequestedCall {
  method: HttpMethod
  headers: Record<string, string>
}

const PLACEHOLDER = /<[A-Z0-9_]+>/g

/**
 * Fills the call from the operation that the endpoint names, or from the one that a buyer on `rail`
 * most likely wants. The caller's values win; a placeholder is never sent.
 * @returns a sentence about what the caller must provide before the call can be sent
 */
export function fillCall(
  operations: readonly CalledOperation[],
  requested: RequestedCall,
  rail: Rail,
): FilledCall | string {
  const { query, headers = {}, body } = requested
  const called = findCalled(operations, requested, rail)
  const method = requested.method ?? called?.method ?? (body === undefined ? 'GET' : 'POST')
  const own = requested.endpoint ?? called?.example.url
  const endpoint = own === undefined || query === undefined ? own : withQuery(own, query)
  if (query !== undefined && endpoint === undefined)
    return 'It is not known which operation `query` is for: give `endpoint`, a path such as /search.'
  if (called === undefined) return { method, endpoint, headers, body }
  const { example } = called
  const address = endpoint ?? example.url
  const filled = {
    method,
    endpoint: address,
    headers: { ...findMissing(headers, example.headers), ...headers },
    body: body ?? toBody(example),
  }
  const left = [
    ...new Set(`${address} ${body === undefined ? filled.body : ''}`.match(PLACEHOLDER)),
  ]
  return left.length === 0
    ? filled
    : `${method} ${called.url} needs values that only its caller knows: ${left.join(', ')}. Send endpoint and body with these values filled in; the listing's kit describes each.`
}

/** Changes only the query: the rest of the address stays, byte for byte. */
function withQuery(address: string, query: NonNullable<RequestedCall['query']>): string {
  const [place = '', own = ''] = address.split(/\?(.*)/s)
  const given =
    typeof query === 'string'
      ? query.replace(/^\?/, '')
      : String(
          new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])),
        )
  const names = new Set(new URLSearchParams(given).keys())
  const nameOf = (pair: string) => [...new URLSearchParams(pair).keys()][0] ?? ''
  const kept = own.split('&').filter((pair) => !names.has(nameOf(pair)))
  const pairs = [...kept, given].filter((text) => text !== '')
  return pairs.length === 0 ? place : `${place}?${pairs.join('&')}`
}

function findCalled(
  operations: readonly CalledOperation[],
  { endpoint, method }: RequestedCall,
  rail: Rail,
): CalledOperation | undefined {
  const relayed = operations.filter(
    (operation) =>
      operation.relay_url !== undefined && (method === undefined || operation.method === method),
  )
  if (endpoint === undefined) return chooseOperation(relayed, rail)
  return relayed.find(({ url }) => isAtAddress(url, endpoint))
}

/** The example's fields that the caller omits, except those that only the caller can fill. */
function findMissing(
  given: Readonly<Record<string, string>>,
  example: Readonly<Record<string, string>>,
): Record<string, string> {
  const stated = new Set(Object.keys(given).map((name) => name.toLowerCase()))
  return Object.fromEntries(
    Object.entries(example).filter(
      ([name, value]) => !stated.has(name.toLowerCase()) && value.match(PLACEHOLDER) === null,
    ),
  )
}

function toBody({ headers, body }: CalledOperation['example']): string | undefined {
  return body === undefined ? undefined : encodeBody(headers['Content-Type'] ?? '', body)
}

/** The documents' worked example, from a question to a call, all with one listing. */
export type FirstCall = NonNullable<ReturnType<typeof toFirstCall>>

/**
 * Chooses a listing that the relay calls by GET at an address with nothing to fill in, else one that the relay calls,
 * else any; an operation mapped to its task puts a listing before others. A search for the listing's id always lists it
 * first; a search for its name does so if no other listing has that name.
 */
export function toFirstCall(all: readonly DerivedListing[], baseUrl: string) {
  const listings = all.filter(({ facts }) => !facts.first_party)
  const relayed = listings.filter(({ buy }) => buy.reason === null)
  const isMapped = ({ surface }: DerivedListing) => surface.operations.some((each) => each.result)
  const found = (relayed.length > 0 ? relayed : listings).toSorted(
    (a, b) => Number(isMapped(b)) - Number(isMapped(a)),
  )
  const chosen = found.find((each) => findPlainCall(each, baseUrl) !== null) ?? found[0]
  if (chosen === undefined) return null
  const { id, buy, facts } = chosen
  const named = found.filter((each) => each.facts.name.toLowerCase() === facts.name.toLowerCase())
  const relay = buy.reason === null ? `${baseUrl}${callPath(id)}` : null
  return {
    id,
    /** The words of a search that lists this listing first. */
    words: named.length === 1 ? facts.name : id,
    /** The relay's address for one operation; null if no listing is relayed. */
    call: findPlainCall(chosen, baseUrl) ?? relay,
  }
}

function findPlainCall(listing: DerivedListing, baseUrl: string): string | null {
  if (listing.buy.reason !== null) return null
  const operations = toKitOperations(listing, `${baseUrl}${callPath(listing.id)}`)
  const { method, relay_url } = chooseOperation(operations, 'x402')?.example ?? {}
  return method === 'GET' && relay_url !== undefined && !/[<{']/.test(relay_url) ? relay_url : null
}

/** The address of the search that lists the example's listing first. */
export function toFirstSearch(
  { words, call }: FirstCall,
  more: Readonly<Record<string, string>>,
): string {
  const rail = call === null ? {} : { rail: 'x402' }
  return `/api/v1/search?${new URLSearchParams({ q: words, ...rail, ...more })}`
}

/** Stated in advance, because the relay answers 422 to a wallet whose rail the seller does not take. */
export const RAILS_DECIDE =
  'The rails of a listing, not the prefix of its id, say how to pay it: the id of every paid HTTP service begins with x402., but a service whose only rail is mpp takes no x402 wallet.'
