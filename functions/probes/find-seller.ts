import {
  type AgentCard,
  CARD_PATHS,
  OF_SERVER_CARDS,
  readAgentCard,
} from '../../src/domain/probe/a2a.ts'
import { AGENT_CARD_TYPE } from '../../src/domain/protocols/cards.ts'
import { readOpenApi } from '../../src/domain/sources/openapi.ts'
import type { DescribedApi } from '../../src/domain/sources/payment-info.ts'
import { readX402Manifest } from '../../src/domain/sources/x402-manifest.ts'
import { isJsonObject, parseJson } from '../../src/domain/wire/json.ts'
import type { DISCOVERY_FILES } from '../../src/domain/wire/vocabulary.ts'
import type { Fetcher } from '../net/http-client.ts'

/** Where sellers describe themselves, by kind of file, with the preferred path first. */
const PLACES: Record<DiscoveryFile, readonly string[]> = {
  openapi: ['/openapi.json', '/.well-known/openapi.json'],
  llms_txt: ['/llms.txt'],
  x402_manifest: ['/.well-known/x402', '/.well-known/x402.json'],
  agent_card: CARD_PATHS,
  ard: ['/.well-known/ard.json'],
  mcp_card: ['/.well-known/mcp/server-card.json', '/.well-known/mcp.json'],
}

/** ARD comes before the cards that it names. */
const KINDS = ['openapi', 'ard', 'agent_card', 'mcp_card', 'llms_txt', 'x402_manifest'] as const

const MAX_TITLE = 300
/** How many card paths from a manifest are tried; the first valid card is used. */
const MOST_CARDS = 3

/** What a seller publishes about itself at the well-known paths. */
export interface FoundSeller {
  origin: string
  /** Addresses of the files that exist and are valid. */
  files: Partial<Record<DiscoveryFile, string>>
  api: DescribedApi | null
  /** Its x402 manifest. */
  manifest: DescribedApi | null
  card: AgentCard | null
  /** Its MCP server card. */
  serverCard: Record<string, unknown> | null
  /** Other paths of its cards, according to its ARD manifest. */
  cardPaths: readonly string[]
  /** First heading of its llms.txt. */
  title: string | null
  /** Why nothing was found, from the first request that failed. */
  fault: string | null
}

/** Reads a seller's own files: at most one request per path, in turn, without redirects. */
export async function findSeller(origin: string, client: Fetcher): Promise<FoundSeller> {
  const found = toNothing(origin, null)
  for (const kind of KINDS)
    for (const path of [...PLACES[kind], ...(kind === 'agent_card' ? found.cardPaths : [])]) {
      const reply = await client.fetch({
        method: 'GET',
        url: origin + path,
        headers: { accept: 'application/json, text/plain' },
      })
      if (!reply.answered) {
        // A host that is unreachable for one file is unreachable for the next.
        found.fault = reply.detail
        return found
      }
      const { status, body, cut } = reply.answer
      if (status === 200 && cut === null && take(found, kind, origin + path, body)) {
        found.files[kind] = origin + path
        break
      }
      found.fault ??=
        status === 200 ? `${path} is not a valid file of its kind` : `${path}: status ${status}`
    }
  if (Object.keys(found.files).length > 0) found.fault = null
  return found
}

export function toNothing(origin: string, fault: string | null): FoundSeller {
  return {
    ...{ origin, fault, files: {}, cardPaths: [] },
    ...{ api: null, manifest: null, card: null, serverCard: null, title: null },
  }
}

/** @returns whether the text is a file of this kind: many hosts answer any path with 200 and a page */
function take(found: FoundSeller, kind: DiscoveryFile, address: string, text: string): boolean {
  if (kind === 'llms_txt') {
    const [, title] = /^\s*# (.+)/.exec(text) ?? []
    if (title === undefined || /^\s*</.test(text)) return false
    found.title = title.trim().slice(0, MAX_TITLE)
    return true
  }
  const value = parseJson(text)
  if (kind === 'openapi') {
    found.api = readOpenApi(value, address)
    return found.api !== null
  }
  if (!isJsonObject(value)) return false
  if (kind === 'ard') {
    if (!Array.isArray(value.entries)) return false
    found.cardPaths = cardPathsOf(value.entries, found.origin)
    return true
  }
  if (kind === 'x402_manifest') {
    found.manifest = readX402Manifest(value, address)
    return found.manifest !== null
  }
  if (kind === 'mcp_card') {
    const isCard = OF_SERVER_CARDS.some((name) => name in value)
    found.serverCard = isCard ? value : null
    return isCard
  }
  found.card = readAgentCard(value).card
  return found.card !== null
}

/** Paths of the agent cards that the ARD entries place on this same origin. */
function cardPathsOf(entries: readonly unknown[], origin: string): string[] {
  return entries
    .filter(isJsonObject)
    .filter(({ type }) => type === AGENT_CARD_TYPE)
    .flatMap(({ url }) => (typeof url === 'string' ? (URL.parse(url, origin) ?? []) : []))
    .filter((url) => url.origin === origin && !PLACES.agent_card.includes(url.pathname))
    .map(({ pathname }) => pathname)
    .slice(0, MOST_CARDS)
}

type DiscoveryFile = (typeof DISCOVERY_FILES)[number]
