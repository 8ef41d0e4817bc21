import { type FoundSeller, findSeller } from '../../functions/discovery/find-seller.ts'
import type { Fetcher } from '../../functions/net/http-client.ts'
import { examineUrl } from '../../functions/probes/lint.ts'
import type { Finding, Sight } from '../../src/domain/probe/finding.ts'

/** A service's own facts. Foreign words as they came: code that prints them makes them inert. */
export interface FoundService {
  url: string
  kind: 'http_api' | 'mcp_server' | 'a2a_agent'
  /** When it was read, ISO 8601. */
  at: string
  /** From the handshake of its protocol. */
  sight: Pick<Sight, 'server' | 'tools' | 'terms'>
  /** From the files next to it. */
  seller: Pick<FoundSeller, 'files' | 'api' | 'card' | 'title'>
}

/**
 * Probes a reported address: for the reviewer, never for its sender.
 *
 * @returns facts, or in `unreachable` why the host did not answer
 */
export async function inspectService(
  url: string,
  client: Fetcher,
  at: string,
): Promise<FoundService | { unreachable: string }> {
  const { chosen } = await examineUrl(url, undefined, client, Date.now)
  if (chosen.failure !== undefined) return { unreachable: chosen.saw }
  const seller = await findSeller(new URL(url).origin, client)
  return { url, kind: kindOf(chosen, seller), at, sight: chosen.sight ?? {}, seller }
}

function kindOf({ protocol, outcome }: Finding, seller: FoundSeller): FoundService['kind'] {
  const isThere = outcome === 'spoke' || outcome === 'gated'
  if (isThere && protocol === 'mcp') return 'mcp_server'
  if (isThere && protocol === 'a2a') return 'a2a_agent'
  return seller.card !== null && seller.api === null ? 'a2a_agent' : 'http_api'
}
