import { defaultAddress } from '../listing/invoke.ts'
import type { ListingFacts, Operation } from '../listing/listing-facts.ts'
import { encodeBody, toExampleRequest } from '../listing/operation.ts'
import { railsOf } from '../listing/pricing.ts'
import { present } from '../wire/json.ts'
import type { PROBE_PROTOCOLS, Rail } from '../wire/vocabulary.ts'
import { CARD_PATHS } from './a2a.ts'

/**
 * The facts about a listing that a prober needs, and no others. The build writes them for each listing.
 * @returns null for kits, which have no endpoint, and if `probe: false` asks us to stay away
 */
export function planProbe(id: string, facts: ListingFacts) {
  if (!facts.probe || facts.kind === 'kit' || facts.first_party) return null
  const operations = facts.kind === 'http_api' ? chooseOperations(facts) : []
  return {
    id,
    handshake: toHandshake(facts, operations),
    // The listing's own facts, to compare probes with.
    declared: {
      // Operations with their highest prices in USD, the deciding operation first.
      operations: operations.map((operation) => ({
        method: operation.method,
        url: operation.url,
        max_usd: toHighestPrice(facts, operation),
      })),
      networks: facts.pricing.model === 'per_call' ? facts.pricing.networks : [],
      payouts: facts.payout,
    },
  }
}
export type ProbePlan = NonNullable<ReturnType<typeof planProbe>>

function toHandshake(facts: ListingFacts, operations: readonly Operation[]): Handshake {
  if (facts.kind === 'mcp_server') return toMcpHandshake(facts)
  if (facts.kind === 'a2a_agent') {
    const card = facts.discovery.agent_card
    const places = CARD_PATHS.map((path) => new URL(path, facts.url).href)
    return { kind: 'a2a', urls: card === undefined ? places : [card] }
  }
  const rails = [...railsOf(facts.pricing)].sort((a, b) => (a < b ? 1 : -1))
  const [rail] = rails
  const isGuess = facts.http.length === 0
  const [first, ...others] = operations.map((operation) => toPlanned(operation, facts))
  if (rail === undefined)
    return first === undefined || isGuess
      ? none('http', 'no declared operation is safe to call')
      : { kind: 'http', rails, requests: [first, ...others] }
  if (first === undefined)
    return none(
      rail,
      'no operation can be called: a POST needs an example of its body, and every required parameter needs an example',
    )
  const paid = { ...first, is_paid: true, is_guess: first.is_guess || isGuess }
  return { kind: 'payment', rails, requests: [paid, ...others] }
}

/** Prefers a remote endpoint, which can be probed without running anything. */
function toMcpHandshake(facts: ListingFacts): Handshake {
  const { invoke } = facts
  const remotes = invoke.flatMap((entry) => (entry.kind === 'mcp' ? [entry] : []))
  const callable = remotes.flatMap((entry) => {
    const url = defaultAddress(entry)
    return url === null ? [] : [{ ...entry, url }]
  })
  const modern = callable.find(({ transport }) => transport === 'streamable-http')
  const [first] = callable
  const isPaid = facts.pricing.model === 'per_call' && { is_paid: true as const }
  if (modern !== undefined) return { kind: 'mcp', url: modern.url, ...isPaid }
  if (first !== undefined) return { kind: 'mcp_sse', url: first.url, ...isPaid }
  return none(
    'mcp',
    remotes.length > 0
      ? 'its address has parts that only its caller knows'
      : 'a package has no endpoint to call',
  )
}

function none(
  protocol: Extract<Handshake, { kind: 'none' }>['protocol'],
  reason: string,
): Handshake {
  return { kind: 'none', protocol, reason }
}

/** An operation to probe; the others are probed only after the first has succeeded. */
export type PlannedOperation = ReturnType<typeof toPlanned>

/** How one listing is probed. `none` is for a listing that no handshake fits, with the reason. */
export type Handshake =
  | {
      kind: 'payment' | 'http'
      rails: Rail[]
      /** The first operation decides what the listing is. */
      requests: [PlannedOperation, ...PlannedOperation[]]
    }
  /** `is_paid`: according to the listing, calls to its tools are paid. */
  | { kind: 'mcp' | 'mcp_sse'; url: string; is_paid?: true }
  /** Addresses of the card; each is tried if the previous one has no card. */
  | { kind: 'a2a'; urls: string[] }
  | { kind: 'none'; protocol: (typeof PROBE_PROTOCOLS)[number]; reason: string }

/** The most operations probed: enough to judge a seller, too few to be a burden. */
const MOST_PROBED = 6

/**
 * The listing's operations that are probed, or its address if it has none. Only operations that
 * change nothing: GET, a paid POST with its declared example (an unpaid call is answered with the
 * price), and operations that the listing marks `safe`. The first is the one that a buyer most
 * likely wants; the others are on its origin, those with a price first.
 */
function chooseOperations(facts: ListingFacts): Operation[] {
  if (facts.http.length === 0) return [{ method: 'GET', url: facts.url }]
  const askable = facts.http.filter((operation) => isAskable(operation, facts))
  const priced = askable.filter(({ price }) => price !== undefined)
  const first = priced.find(hasPriceAboveZero) ?? priced[0] ?? askable[0]
  const chosen = first === undefined ? [] : [first]
  for (const operation of [...priced, ...askable])
    if (chosen.length < MOST_PROBED && isAnother(operation, chosen)) chosen.push(operation)
  return chosen
}

/** The request has no credentials: an endpoint that requires them answers 401, which is recorded. */
function toRequest(operation: Operation) {
  const { method, url, headers, body } = toExampleRequest(operation, { type: 'none' })
  const type = operation.body?.content_type ?? 'application/json'
  return { method, url, headers, ...(body !== undefined && { body: encodeBody(type, body) }) }
}

function toPlanned(operation: Operation, facts: ListingFacts) {
  const is_paid = isPaid(operation, facts)
  const { content_type = null, schema, example } = operation.response ?? {}
  const shape = present({ schema, example })
  return {
    request: toRequest(operation),
    // The operation as the listing declares it, with unfilled placeholders.
    operation: { method: operation.method, url: operation.url },
    // A paid operation must answer 402; an operation that is free or has no declared price may also answer 2xx.
    is_paid,
    // Media type of the declared answer.
    expected: content_type,
    // The declared answer, by which a free operation is judged in addition to its media type.
    ...(!is_paid && content_type !== null && { shape }),
    is_guess: operation.assumed?.includes('method') ?? false,
  }
}

/** The highest price in USD; null if the listing names no price for one call, so that no price can drift. */
function toHighestPrice({ pricing }: ListingFacts, { price }: Operation): number | null {
  if (price !== undefined) return price.per === 'call' ? price.max_usd : null
  return pricing.model === 'per_call' ? pricing.max_usd : null
}

function isAskable(operation: Operation, facts: ListingFacts): boolean {
  const { method, safe = false, body } = operation
  const isHarmless = method === 'GET' || safe || (method === 'POST' && isPaid(operation, facts))
  const hasBody = method === 'GET' || safe || body?.example !== undefined
  const { url, headers, body: sent = '' } = toRequest(operation)
  // A placeholder is left if the documentation has no value: a caller would have to know it.
  const isComplete = ![url, ...Object.values(headers), sent].some((text) =>
    /<[A-Z0-9_]+>/.test(text),
  )
  return isHarmless && hasBody && isComplete
}

/** If only some operations have a price, the others may be free: then a POST would have its full effect. */
function isPaid(operation: Operation, { http, pricing }: ListingFacts): boolean {
  if (railsOf(pricing).length === 0) return false
  return hasPriceOfItsOwn(operation)
    ? hasPriceAboveZero(operation)
    : !http.some((each) => hasPriceOfItsOwn(each))
}

function hasPriceOfItsOwn({ price, offers }: Operation): boolean {
  return price !== undefined || (offers !== undefined && offers.length > 0)
}

function hasPriceAboveZero({ price, offers = [] }: Operation): boolean {
  return price === undefined ? offers.some(({ max_usd }) => max_usd > 0) : price.max_usd > 0
}

/** Whether an operation is on the first operation's origin, and repeats no earlier operation and no earlier request. */
function isAnother(operation: Operation, requested: readonly Operation[]): boolean {
  const sent = toRequest(operation).url
  const origin = URL.parse(sent)?.origin
  return requested.every((each, at) => {
    const known = toRequest(each).url
    if (at === 0 && URL.parse(known)?.origin !== origin) return false
    return each.method !== operation.method || (each.url !== operation.url && known !== sent)
  })
}
