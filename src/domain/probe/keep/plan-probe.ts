import type { ListingFacts } from '../../listing/listing-facts.ts'
import type { Operation } from '../../listing/operation.ts'
import { railsOf } from '../../listing/pricing.ts'
import { encodeBody, toExampleRequest } from '../../operation/example-request.ts'
import { CARD_PATHS } from '../read/agent-card.ts'
import type { Handshake, PackagePlan, PlannedRequest, ProbePlan } from './probe-plan.ts'

/**
 * How a listing is probed. Only what changes nothing is ever asked: GET, a paid POST with the
 * example that was declared for it (an unpaid call is answered with the price), and whatever the
 * listing marks `safe`.
 *
 * @param withPackages packages may be run in a container; else nothing can be asked of them
 * @returns null for kits, which are ours and have no endpoint, and where `probe: false` asks us to
 *   stay away
 */
export function planProbe(
  id: string,
  facts: ListingFacts,
  { withPackages = false }: { withPackages?: boolean } = {},
): ProbePlan | null {
  if (!facts.probe || facts.kind === 'kit' || facts.first_party) return null
  const operation = facts.kind === 'http_api' ? chooseOperation(facts) : undefined
  return {
    id,
    handshake: toHandshake(facts, operation, withPackages),
    declared: {
      max_usd: toHighestPrice(facts, operation),
      networks: facts.pricing.model === 'per_call' ? facts.pricing.networks : [],
      payouts: facts.payout,
    },
  }
}

function toHandshake(
  facts: ListingFacts,
  operation: Operation | undefined,
  withPackages: boolean,
): Handshake {
  if (facts.kind === 'mcp_server') return toMcpHandshake(facts, withPackages)
  if (facts.kind === 'a2a_agent') {
    const card = facts.discovery.agent_card
    const places = CARD_PATHS.map((path) => new URL(path, facts.url).href)
    return { kind: 'a2a', urls: card === undefined ? places : [card] }
  }
  const rails = [...railsOf(facts.pricing)].sort((a, b) => (a < b ? 1 : -1))
  if (rails.length > 0) return toPaymentHandshake(facts, rails, operation)
  if (operation === undefined) return none('http', 'no operation is declared that is safe to call')
  const request = toRequest(operation)
  const expected = operation.response?.content_type ?? null
  return { kind: 'http', request, expected }
}

/** A remote endpoint where there is one: nothing has to be run to ask it. */
function toMcpHandshake(facts: ListingFacts, withPackages: boolean): Handshake {
  const { invoke } = facts
  const remotes = invoke.flatMap((entry) => (entry.kind === 'mcp' ? [entry] : []))
  const modern = remotes.find(({ transport }) => transport === 'streamable-http')
  const [first] = remotes
  if (modern !== undefined) return { kind: 'mcp', url: modern.url }
  if (first !== undefined) return { kind: 'mcp_sse', url: first.url }
  if (!withPackages) return none('mcp', 'a package: there is no endpoint to ask')
  const plan = planPackage(facts)
  return plan === null
    ? none('mcp', 'no package of npm, PyPI or an image registry that speaks over stdio')
    : { kind: 'package', package: plan }
}

/** The first package that a container can run and that speaks over stdio. */
function planPackage({ invoke, version }: ListingFacts): PackagePlan | null {
  for (const entry of invoke) {
    if (entry.kind !== 'mcp_package' || entry.transport !== 'stdio') continue
    const { registry, identifier, env = [], args = [] } = entry
    if (registry !== 'npm' && registry !== 'pypi' && registry !== 'oci') continue
    const required = env.filter((setting) => setting.required)
    return {
      registry,
      identifier,
      // An image names its version itself, in its tag or digest.
      version: registry === 'oci' ? null : (version ?? null),
      env: Object.fromEntries(
        required.map(({ name, secret, example }) => [
          name,
          secret ? 'placeholder' : (example ?? 'placeholder'),
        ]),
      ),
      args,
    }
  }
  return null
}

function toPaymentHandshake(
  facts: ListingFacts,
  rails: ReturnType<typeof railsOf>,
  chosen: Operation | undefined,
): Handshake {
  const { http, url } = facts
  const guess: Operation | undefined = http.length === 0 ? { method: 'GET', url } : undefined
  const operation = chosen ?? guess
  if (operation === undefined)
    return none(
      rails[0] ?? 'x402',
      'no operation can be asked: a POST needs an example of its body, every required parameter one of its own',
    )
  return {
    kind: 'payment',
    request: toRequest(operation),
    operation: { method: operation.method, url: operation.url },
    rails: [...rails],
    is_guess: guess !== undefined || (operation.assumed?.includes('method') ?? false),
  }
}

/** The first that has a price, as kits do, among those that can be asked. */
function chooseOperation({ http, pricing }: ListingFacts): Operation | undefined {
  const isPaid = railsOf(pricing).length > 0
  const askable = http.filter((operation) => isAskable(operation, isPaid))
  return askable.find(({ price }) => price !== undefined) ?? askable[0]
}

function isAskable(operation: Operation, isPaid: boolean): boolean {
  const { method, safe = false, body } = operation
  const isHarmless = method === 'GET' || safe || (isPaid && method === 'POST')
  const hasBody = method === 'GET' || safe || body?.example !== undefined
  return isHarmless && hasBody && !hasPlaceholder(toRequest(operation))
}

/** What a caller would have to know and nobody wrote down. */
function hasPlaceholder({ url, headers, body = '' }: PlannedRequest): boolean {
  return [url, ...Object.values(headers), body].some((text) => /<[A-Z0-9_]+>/.test(text))
}

/** Without credentials: an endpoint that wants them answers 401, and that is what is recorded. */
function toRequest(operation: Operation): PlannedRequest {
  const { method, url, headers, body } = toExampleRequest(operation, { type: 'none' })
  const type = operation.body?.content_type ?? 'application/json'
  return { method, url, headers, ...(body !== undefined && { body: encodeBody(type, body) }) }
}

/** Null where the listing names none for one call: then no price can have drifted. */
function toHighestPrice(
  { pricing }: ListingFacts,
  operation: Operation | undefined,
): number | null {
  const { price } = operation ?? {}
  if (price !== undefined) return price.per === 'call' ? price.max_usd : null
  return pricing.model === 'per_call' ? pricing.max_usd : null
}

function none(
  protocol: Extract<Handshake, { kind: 'none' }>['protocol'],
  reason: string,
): Handshake {
  return { kind: 'none', protocol, reason }
}
