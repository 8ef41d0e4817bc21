import type { H3Event } from 'h3'
import type { Peer } from '../../../src/domain/derived/tables.ts'
import type { ArdQuery, Constraint } from '../../../src/domain/doors/ard-query.ts'
import {
  MOST_OF_PEER,
  type PeerResult,
  type PeerRules,
  readPeerAnswer,
} from '../../../src/domain/doors/peer-answer.ts'
import { findUrlFault } from '../../../src/domain/listing/target-url.ts'
import { createOwnAddress, isOwnHost } from '../../call/own-address.ts'
import { createBudget } from '../../limits/budget.ts'
import type { Parts } from '../../parts/parts.ts'
import { ASK_LIMITS, type Asker, type AskRequest, createAsker } from '../../probe/ask.ts'
import { toCaller } from '../../probe/stranger-runs.ts'
import { takeForDoor } from '../entry/door-limits.ts'

/** What peers have together, where the caller sends no `Prefer: wait=<seconds>` (RFC 7240). */
const BUDGET_S = 2
const MOST_BUDGET_S = 10
/** Searches that wait for peers: a circle of registries ends here where one of them drops our mark. */
const SLOTS = { perClient: 2, perNetwork: 4, inAll: 16 }
/** A peer that failed is not asked again for so long (milliseconds): each search would wait for it. */
const REST_MS = 30_000
const MOST_BYTES = 256 * 1024

export interface PeerAnswer {
  peer: Peer
  /** Null where none came in time, or none that can be read. */
  results: PeerResult[] | null
  /** `answered`, or why there are none, in a word. */
  outcome: string
}

export interface PeerQuestion {
  query: ArdQuery
  constraints: readonly Constraint[]
}

/**
 * Asks the registries of `tables/peers.yaml` side by side. Each answers for itself alone
 * (`federation: none`), through the relay's guard, within one budget; no redirect is followed, and
 * nothing is sent twice.
 */
export function createPeerSearch(parts: PeerParts) {
  const { config, resolver, release } = parts
  const places = createBudget(SLOTS)
  const own = new URL(config.BASE_URL)
  const ask = createOneAsker(parts, own)
  return async function askPeers(question: PeerQuestion, event: H3Event): Promise<PeerAnswer[]> {
    const { peers } = release()
    // Who asks on our behalf gets what is ours: we asked already.
    if (peers.length === 0 || isMarked(event.req, own.host)) return []
    const { client, socket, signal } = toCaller(event, config)
    // Each peer that is asked counts as a search of the caller's.
    const { allowed } = await takeForDoor(parts, 'search', event.req, peers.length)
    const place = allowed ? places.take(client) : 'limited'
    if (typeof place === 'string')
      return peers.map((peer) => ({ peer, results: null, outcome: 'busy' }))
    const seconds = readBudget(event.req.headers.get('prefer'))
    const ended = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)])
    await using asker = createAsker({
      config,
      resolver,
      userAgent: `Directory-Search/1 (+${config.BASE_URL}/docs)`,
      isOwnAddress: socket && createOwnAddress(config.HOST, socket),
      limits: { ...ASK_LIMITS, bodyBytes: MOST_BYTES, decodedBytes: MOST_BYTES },
    })
    const asked = { ...question, seconds, signal: ended }
    const answers = Promise.all(peers.map((peer) => ask(peer, asker, asked)))
    return await answers.finally(place.release)
  }
}

type PeerParts = Pick<Parts, 'config' | 'resolver' | 'release' | 'clock' | 'limits'>
type Asked = PeerQuestion & { seconds: number; signal: AbortSignal }

/** Asks one peer, unless it is ourselves, stands where it may not, or failed just now. */
function createOneAsker({ config, clock }: Pick<PeerParts, 'config' | 'clock'>, own: URL) {
  const restingUntil = new Map<string, number>()
  const allowPrivate = config.PRIVATE_TARGETS
  const findHindrance = (url: string) => {
    if (isOwnHost(new URL(url), own)) return 'own_address'
    if (findUrlFault(url, { allowPrivate }) !== null) return 'address_refused'
    return (restingUntil.get(url) ?? 0) > clock.now() ? 'resting' : null
  }
  return async (peer: Peer, asker: Asker, asked: Asked): Promise<PeerAnswer> => {
    const { query, constraints, seconds, signal } = asked
    const hindrance = findHindrance(peer.url)
    if (hindrance !== null) return { peer, results: null, outcome: hindrance }
    const token = config.PEER_TOKENS[peer.url]
    const headers = {
      'content-type': 'application/json',
      prefer: `wait=${seconds}`,
      via: `1.1 ${own.host}`,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    const url = `${peer.url}/search`
    const request = { method: 'POST', url, headers, body: toBody(query), signal }
    const rules = { allowPrivate, hostname: own.hostname, constraints }
    const answer = await askPeer(asker, request, rules)
    // A caller in a hurry says nothing of a peer that takes its time.
    if (answer.results === null && !(answer.outcome === 'timeout' && seconds < BUDGET_S))
      restingUntil.set(peer.url, clock.now() + REST_MS)
    return { peer, ...answer }
  }
}

function toBody({ filter, ...query }: ArdQuery): string {
  const isFiltered = Object.keys(filter).length > 0
  return JSON.stringify({
    query: { ...query, ...(isFiltered && { filter }) },
    federation: 'none',
    pageSize: MOST_OF_PEER,
  })
}

async function askPeer(
  asker: Asker,
  request: AskRequest,
  rules: PeerRules,
): Promise<Omit<PeerAnswer, 'peer'>> {
  const fail = (outcome: string) => ({ results: null, outcome })
  const reply = await asker.ask(request)
  if (!reply.answered) return fail(reply.failure)
  const { status, body, cut } = reply.answer
  if (cut !== null) return fail(cut === 'size' ? 'too_large' : 'timeout')
  if (status !== 200) return fail(`http_${status}`)
  const results = readPeerAnswer(body, rules)
  return results === null ? fail('no_answer') : { results, outcome: 'answered' }
}

/** RFC 9110 §7.6.3: each server that passes a question on writes its name. */
function isMarked({ headers }: Request, host: string): boolean {
  const names = headers.get('via')?.toLowerCase().split(',') ?? []
  return names.some((name) => name.trim().split(/\s+/)[1] === host)
}

/** @example readBudget('respond-async, wait=4') → 4 */
function readBudget(prefer: string | null): number {
  const [, wait] = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})/i.exec(prefer ?? '') ?? []
  return wait === undefined ? BUDGET_S : Math.min(MOST_BUDGET_S, Math.max(1, Number(wait)))
}
