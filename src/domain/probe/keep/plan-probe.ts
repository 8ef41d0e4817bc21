import type { ListingFacts } from '../../listing/listing-facts.ts'
import type { Operation } from '../../listing/operation.ts'
import { railsOf } from '../../listing/pricing.ts'
import { CARD_PATHS } from '../read/judge-a2a.ts'
import {
  type ChosenOperations,
  chooseOperations,
  toHighestPrice,
  toOther,
} from './choose-operations.ts'
import type { Handshake, ProbePlan } from './probe-plan.ts'

/** @returns null for kits, which have no endpoint, and where `probe: false` asks us to stay away */
export function planProbe(id: string, facts: ListingFacts): ProbePlan | null {
  if (!facts.probe || facts.kind === 'kit' || facts.first_party) return null
  const chosen = facts.kind === 'http_api' ? chooseOperations(facts) : NO_OPERATIONS
  const first = chosen.first ?? (facts.kind === 'http_api' ? guessOperation(facts) : undefined)
  return {
    id,
    handshake: toHandshake(facts, chosen),
    declared: {
      operations: [...(first === undefined ? [] : [first]), ...chosen.others].map((operation) => ({
        method: operation.method,
        url: operation.url,
        max_usd: toHighestPrice(facts, operation),
      })),
      networks: facts.pricing.model === 'per_call' ? facts.pricing.networks : [],
      payouts: facts.payout,
    },
  }
}

const NO_OPERATIONS: ChosenOperations = { first: undefined, others: [] }

function toHandshake(facts: ListingFacts, chosen: ChosenOperations): Handshake {
  if (facts.kind === 'mcp_server') return toMcpHandshake(facts)
  if (facts.kind === 'a2a_agent') {
    const card = facts.discovery.agent_card
    const places = CARD_PATHS.map((path) => new URL(path, facts.url).href)
    return { kind: 'a2a', urls: card === undefined ? places : [card] }
  }
  const rails = [...railsOf(facts.pricing)].sort((a, b) => (a < b ? 1 : -1))
  if (rails.length > 0) return toPaymentHandshake(facts, rails, chosen)
  const { first } = chosen
  if (first === undefined) return none('http', 'no operation is declared that is safe to call')
  const { is_paid: _, is_guess: _guess, ...asked } = toOther(first, facts)
  return { kind: 'http', ...asked, ...toOthers(facts, chosen) }
}

function toOthers(facts: ListingFacts, { others }: ChosenOperations) {
  return others.length > 0 && { others: others.map((operation) => toOther(operation, facts)) }
}

/** A remote endpoint where there is one: nothing has to be run to probe it. */
function toMcpHandshake(facts: ListingFacts): Handshake {
  const { invoke } = facts
  const remotes = invoke.flatMap((entry) => (entry.kind === 'mcp' ? [entry] : []))
  const modern = remotes.find(({ transport }) => transport === 'streamable-http')
  const [first] = remotes
  if (modern !== undefined) return { kind: 'mcp', url: modern.url }
  if (first !== undefined) return { kind: 'mcp_sse', url: first.url }
  return none('mcp', 'a package has no endpoint to ask')
}

function toPaymentHandshake(
  facts: ListingFacts,
  rails: ReturnType<typeof railsOf>,
  chosen: ChosenOperations,
): Handshake {
  const guess = guessOperation(facts)
  const asked = chosen.first ?? guess
  if (asked === undefined)
    return none(
      rails[0] ?? 'x402',
      'no operation can be asked: a POST needs an example of its body, every required parameter one of its own',
    )
  const { request, operation, is_guess } = toOther(asked, facts)
  return {
    kind: 'payment',
    request,
    operation,
    rails: [...rails],
    is_guess: is_guess || guess !== undefined,
    ...toOthers(facts, chosen),
  }
}

/** A listing without operations has only its address. */
function guessOperation({ http, url }: ListingFacts): Operation | undefined {
  return http.length === 0 ? { method: 'GET', url } : undefined
}

function none(
  protocol: Extract<Handshake, { kind: 'none' }>['protocol'],
  reason: string,
): Handshake {
  return { kind: 'none', protocol, reason }
}
