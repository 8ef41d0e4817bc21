import type { ListingFacts } from '../../listing/listing-facts.ts'
import type { Operation } from '../../listing/operation.ts'
import { railsOf } from '../../listing/pricing.ts'
import { CARD_PATHS } from '../read/judge-a2a.ts'
import {
  type ChosenOperations,
  chooseOperations,
  toHighestPrice,
  toOther,
  toRequest,
} from './choose-operations.ts'
import type { Handshake, PackagePlan, ProbePlan } from './probe-plan.ts'

/**
 * How a listing is probed: which handshake, and of an HTTP listing which operations.
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
  const chosen = facts.kind === 'http_api' ? chooseOperations(facts) : NO_OPERATIONS
  const others = chosen.others.map((operation) => ({
    method: operation.method,
    url: operation.url,
    max_usd: toHighestPrice(facts, operation),
  }))
  return {
    id,
    handshake: toHandshake(facts, chosen, withPackages),
    declared: {
      max_usd: toHighestPrice(facts, chosen.first),
      ...(others.length > 0 && { operations: others }),
      networks: facts.pricing.model === 'per_call' ? facts.pricing.networks : [],
      payouts: facts.payout,
    },
  }
}

const NO_OPERATIONS: ChosenOperations = { first: undefined, others: [] }

function toHandshake(
  facts: ListingFacts,
  chosen: ChosenOperations,
  withPackages: boolean,
): Handshake {
  if (facts.kind === 'mcp_server') return toMcpHandshake(facts, withPackages)
  if (facts.kind === 'a2a_agent') {
    const card = facts.discovery.agent_card
    const places = CARD_PATHS.map((path) => new URL(path, facts.url).href)
    return { kind: 'a2a', urls: card === undefined ? places : [card] }
  }
  const rails = [...railsOf(facts.pricing)].sort((a, b) => (a < b ? 1 : -1))
  if (rails.length > 0) return toPaymentHandshake(facts, rails, chosen)
  const { first } = chosen
  if (first === undefined) return none('http', 'no operation is declared that is safe to call')
  return {
    kind: 'http',
    request: toRequest(first),
    expected: first.response?.content_type ?? null,
    operation: { method: first.method, url: first.url },
    ...toOthers(facts, chosen),
  }
}

function toOthers(facts: ListingFacts, { others }: ChosenOperations) {
  return others.length > 0 && { others: others.map((operation) => toOther(operation, facts)) }
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
  chosen: ChosenOperations,
): Handshake {
  const { http, url } = facts
  const guess: Operation | undefined = http.length === 0 ? { method: 'GET', url } : undefined
  const operation = chosen.first ?? guess
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
    ...toOthers(facts, chosen),
  }
}

function none(
  protocol: Extract<Handshake, { kind: 'none' }>['protocol'],
  reason: string,
): Handshake {
  return { kind: 'none', protocol, reason }
}
