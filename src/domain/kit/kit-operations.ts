import * as v from 'valibot'
import { operationLine, SeenCallSchema } from '../derived/callable-view.ts'
import type { DerivedListing } from '../derived/derived-listing.ts'
import { type Operation, ParamSchema, PayloadSchema } from '../listing/listing-facts.ts'
import { railsOf } from '../listing/pricing.ts'
import { type ExampleRequest, toExampleRequest } from '../operation/example-request.ts'
import type { SurfaceOperation } from '../operation/surface.ts'
import { smallestOf } from '../wire/json.ts'
import { HTTP_METHODS, type Rail } from '../wire/vocabulary.ts'

const ExampleRequestSchema = v.object({
  method: v.picklist(HTTP_METHODS),
  url: v.string(),
  /** The same request through the relay; absent where the relay cannot forward it. */
  relay_url: v.optional(v.string()),
  headers: v.record(v.string(), v.string()),
  /** A JSON value where the body is JSON, else its text. */
  body: v.optional(v.unknown()),
})

/** An operation with everything a caller needs, and one request that can be sent as it is. */
export const KitOperationSchema = v.object({
  ...operationLine,
  /** The same operation through the relay; absent where the relay cannot forward it. */
  relay_url: v.optional(v.string()),
  params: v.optional(v.array(ParamSchema)),
  body: v.optional(PayloadSchema),
  /** The output, and the document that describes it. */
  response: v.optional(v.object({ ...PayloadSchema.entries, ref: v.optional(v.string()) })),
  safe: v.optional(v.boolean()),
  /** `<PLACEHOLDER>`s are for values only the caller can know. */
  example: ExampleRequestSchema,
})
export type KitOperation = v.InferOutput<typeof KitOperationSchema>

/** @param relayUrl the listing's address at the relay, null where the relay cannot call it. */
export function toKitOperations(
  { facts, surface }: DerivedListing,
  relayUrl: string | null,
): KitOperation[] {
  if (facts.kind !== 'http_api') return []
  const operations: SurfaceOperation[] =
    surface.operations.length > 0
      ? surface.operations
      : [{ method: 'GET', url: facts.url, effect: 'read' }]
  const takesX402 = sellsOn('x402', operations, railsOf(facts.pricing))
  return operations.map(({ seen, map: _, send: __, ...operation }) => {
    const request = toExampleRequest(operation, facts.auth)
    const relayed = takesX402(operation) ? relayUrl : null
    const through = (url: string) => toRelayUrl(relayed, facts.url, url)
    return {
      ...operation,
      ...(seen !== undefined && { seen: v.parse(SeenCallSchema, seen) }),
      ...through(operation.url),
      example: { ...request, ...through(request.url) },
    }
  })
}

/** The request to send: through the relay where possible. */
export function toSent({ example }: KitOperation): ExampleRequest {
  const { relay_url, ...request } = example
  return { ...request, url: relay_url ?? request.url }
}

/** The relay's own query parameters. */
const OWN_PARAMETERS = /(?:^|&)(?:endpoint|relay_info)(?=[=&]|$)/

/**
 * The relay takes endpoints on the listing's own origin. The query stays outside `endpoint`,
 * unchanged, and so do placeholders: the user must find them.
 */
function toRelayUrl(
  relayUrl: string | null,
  listingUrl: string,
  url: string,
): { relay_url?: string } {
  const listed = new URL(listingUrl)
  const [, origin, path = '', query = ''] =
    /^(https?:\/\/[^/?#]+)([^?#]*)(?:\?([^#]*))?/.exec(url) ?? []
  if (relayUrl === null || origin !== listed.origin) return {}
  if (
    listed.search === '' &&
    (path === listed.pathname || (path === '' && listed.pathname === '/'))
  )
    return OWN_PARAMETERS.test(query) ? whole(relayUrl, path, query) : join(relayUrl, query)
  if (`${path}?${query}` === `${listed.pathname}${listed.search}`) return { relay_url: relayUrl }
  if (OWN_PARAMETERS.test(query)) return whole(relayUrl, path, query)
  return join(relayUrl, `endpoint=${encodeVisibly(path || '/')}`, query)
}

function join(relayUrl: string, ...parts: string[]) {
  const query = parts.filter((part) => part !== '').join('&')
  return { relay_url: query === '' ? relayUrl : `${relayUrl}?${query}` }
}

/** Names that the relay would cut out are safe inside `endpoint`. */
function whole(relayUrl: string, path: string, query: string) {
  return join(relayUrl, `endpoint=${encodeVisibly(`${path || '/'}?${query}`)}`)
}

function encodeVisibly(text: string): string {
  return encodeURIComponent(text)
    .replace(/%3C([A-Z0-9_]+)%3E/g, '<$1>')
    .replace(/%7B([A-Za-z0-9_.]+)%7D/g, '{$1}')
}

export type OperationOffers = Partial<Pick<Operation, 'price' | 'offers'>>

/** Lowest price by its own terms, in US dollars; null where it has none. */
export function lowestOf({ price, offers = [] }: OperationOffers): number | null {
  const all = price === undefined ? offers : [...offers, price]
  const least = smallestOf(all.map(({ min_usd }) => min_usd))
  return Number.isFinite(least) ? least : null
}

/** Whether an operation is sold on a rail: by its offers or, where none has any, the listing's. */
export function sellsOn(
  rail: Rail,
  operations: readonly OperationOffers[],
  listed: readonly Rail[],
): (operation: OperationOffers) => boolean {
  const isStated = operations.some(({ offers = [] }) => offers.length > 0)
  return isStated
    ? ({ offers = [] }) => offers.some((offer) => offer.rail === rail)
    : () => listed.includes(rail)
}

/** Those sold on the rail first, otherwise in the given order. */
export function orderByRail<Each extends OperationOffers>(
  operations: readonly Each[],
  rail: Rail | undefined,
): Each[] {
  const isOn = ({ offers = [] }: Each) => offers.some((offer) => offer.rail === rail)
  return [...operations.filter(isOn), ...operations.filter((each) => !isOn(each))]
}

/** The first that is sold on the rail, else the first that has a price, else the first. */
export function chooseOperation<Each extends OperationOffers>(
  operations: readonly Each[],
  rail?: Rail,
): Each | undefined {
  const [first] = orderByRail(operations, rail)
  if (first?.offers?.some((offer) => offer.rail === rail) === true) return first
  return (
    operations.find(({ price, offers }) => price !== undefined || offers !== undefined) ??
    operations[0]
  )
}
