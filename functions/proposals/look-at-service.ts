import type { Finding, ProbeProtocol } from '../../src/domain/probe/read/finding.ts'
import {
  type FoundService,
  MAX_FOUND_BYTES,
  type ProposableKind,
} from '../../src/domain/proposals/found-service.ts'
import { type FoundSeller, findSeller } from '../discovery/find-seller.ts'
import { examineUrl } from '../lint/lint-url.ts'
import type { Fetcher } from '../net/http-client.ts'

const MAX_TOOLS = 100
const MAX_TERMS = 20
const MAX_TEXT = 1000

const PROTOCOLS: Record<ProposableKind, ProbeProtocol | undefined> = {
  http_api: undefined,
  mcp_server: 'mcp',
  a2a_agent: 'a2a',
}

export interface Looked {
  found: FoundService
  /** Why nothing could be asked; null where the host answered. */
  unreachable: string | null
}

/**
 * What a proposed address says of itself: the handshake of its protocol, and the files beside it.
 *
 * @param kind what the proposer takes it for
 */
export async function lookAtService(
  { url, kind }: { url: string; kind?: ProposableKind | undefined },
  client: Fetcher,
  now: () => number,
): Promise<Looked> {
  const as = kind === undefined ? undefined : PROTOCOLS[kind]
  const { chosen } = await examineUrl(url, as, client, now)
  const isDead = chosen.failure !== undefined
  const seller = isDead ? null : await findSeller(new URL(url).origin, client)
  const at = new Date(now()).toISOString()
  const found = toFound({ url, at, kind: kind ?? kindOf(chosen, seller) }, chosen, seller)
  return { found: cutToFit(found), unreachable: isDead ? chosen.saw : null }
}

function kindOf({ protocol, outcome }: Finding, seller: FoundSeller | null): ProposableKind {
  const isThere = outcome === 'spoke' || outcome === 'gated'
  if (isThere && protocol === 'mcp') return 'mcp_server'
  if (isThere && protocol === 'a2a') return 'a2a_agent'
  return seller?.card != null && seller.api === null ? 'a2a_agent' : 'http_api'
}

function toFound(
  head: Pick<FoundService, 'url' | 'at' | 'kind'>,
  { protocol, outcome, saw, sight }: Finding,
  seller: FoundSeller | null,
): FoundService {
  const cut = (text: string) => text.slice(0, MAX_TEXT)
  return {
    ...head,
    speaks: outcome === 'spoke' || outcome === 'gated' ? protocol : null,
    saw,
    files: seller?.files ?? {},
    api: seller?.api ?? null,
    card: seller?.card ?? null,
    title: seller?.title ?? null,
    server:
      sight?.server === undefined
        ? null
        : { name: cut(sight.server.name), version: cut(sight.server.version) },
    tools: (sight?.tools ?? [])
      .slice(0, MAX_TOOLS)
      .map(({ name, description }) => ({ name: cut(name), description: cut(description) })),
    terms: (sight?.terms ?? [])
      .slice(0, MAX_TERMS)
      .map(({ rail, network, usd }) => ({ rail, network, usd })),
  }
}

/** A huge card or document must not fill the ledger: the largest parts go, what is left says so. */
function cutToFit(found: FoundService): FoundService {
  const steps: ((now: FoundService) => FoundService)[] = [
    (now) => now,
    (now) => ({
      ...now,
      api: now.api && { ...now.api, operations: now.api.operations.slice(0, 20), truncated: true },
      tools: now.tools.slice(0, 20),
    }),
    (now) => ({ ...now, card: now.card && withoutDetails(now.card) }),
    (now) => ({ ...now, api: now.api && { ...now.api, operations: [] }, card: null, tools: [] }),
  ]
  let cut = found
  for (const step of steps) {
    cut = step(cut)
    if (Buffer.byteLength(JSON.stringify(cut)) <= MAX_FOUND_BYTES) return cut
  }
  return cut
}

/** The parts of a card that a listing is made of, and a few of its skills. */
function withoutDetails(card: Record<string, unknown>): Record<string, unknown> {
  const kept = ['name', 'description', 'url', 'version', 'protocolVersion', 'supportedInterfaces']
  const head = Object.entries(card).filter(([name]) => kept.includes(name))
  const skills = Array.isArray(card.skills) ? card.skills.slice(0, 10) : []
  return { ...Object.fromEntries(head), skills }
}
