import type { H3Event } from 'h3'
import type { Peer } from '../../../src/domain/derived/tables.ts'
import type { ArdQuery, Constraint } from '../../../src/domain/doors/ard-query.ts'
import {
  MOST_OF_PEER,
  type PeerResult,
  readPeerAnswer,
} from '../../../src/domain/doors/peer-answer.ts'
import { createOwnAddress, isOwnHost } from '../../call/own-address.ts'
import { createBudget } from '../../limits/budget.ts'
import type { Parts } from '../../parts/parts.ts'
import { type Asker, type AskLimits, createAsker } from '../../probe/ask.ts'
import { toCaller } from '../../probe/stranger-runs.ts'

/** What peers have together, where the caller sends no `Prefer: wait=<seconds>` (RFC 7240). */
const BUDGET_S = 2
const MOST_BUDGET_S = 10
/** Searches that wait for peers, so that a circle of registries ends however they forget its marks. */
const SLOTS = { perClient: 2, perNetwork: 4, inAll: 16 }
/** A peer that failed is not asked again for so long (milliseconds): each search would wait for it. */
const REST_MS = 30_000
const KIB = 1024
const LIMITS: AskLimits = {
  connectMs: MOST_BUDGET_S * 1000,
  answerMs: MOST_BUDGET_S * 1000,
  headerBytes: 16 * KIB,
  bodyBytes: 256 * KIB,
  decodedBytes: 256 * KIB,
}

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
export function createPeerSearch({ config, resolver, release, clock }: PeerParts) {
  const restingUntil = new Map<string, number>()
  const places = createBudget(SLOTS)
  const own = new URL(config.BASE_URL)
  return async function askPeers(question: PeerQuestion, event: H3Event): Promise<PeerAnswer[]> {
    const { peers } = release()
    // Who asks on our behalf gets what is ours: we asked already.
    if (peers.length === 0 || isMarked(event.req, own.host)) return []
    const { client, socket, signal } = toCaller(event, config)
    const place = places.take(client)
    if (typeof place === 'string')
      return peers.map((peer) => ({ peer, results: null, outcome: 'busy' }))
    const seconds = readBudget(event.req.headers.get('prefer'))
    const ended = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)])
    const asker = createAsker({
      config,
      resolver,
      userAgent: `Directory-Search/1 (+${config.BASE_URL}/docs)`,
      isOwnAddress: socket && createOwnAddress(config.HOST, socket),
      limits: LIMITS,
    })
    const headers = {
      'content-type': 'application/json',
      prefer: `wait=${seconds}`,
      via: `1.1 ${own.host}`,
    }
    const { filter, ...asked } = question.query
    const query = { ...asked, ...(Object.keys(filter).length > 0 && { filter }) }
    const body = JSON.stringify({ query, federation: 'none', pageSize: MOST_OF_PEER })
    const rules = {
      allowPrivate: config.PRIVATE_TARGETS,
      hostname: own.hostname,
      constraints: question.constraints,
    }
    const ask = async (peer: Peer): Promise<PeerAnswer> => {
      if (isOwnHost(new URL(peer.url), own)) return { peer, results: null, outcome: 'own_address' }
      if ((restingUntil.get(peer.url) ?? 0) > clock.now())
        return { peer, results: null, outcome: 'resting' }
      const request = { method: 'POST', url: `${peer.url}/search`, headers, body, signal: ended }
      const { text, outcome } = await readText(asker, request)
      const results = text === null ? null : readPeerAnswer(text, rules)
      // A caller in a hurry says nothing of a peer that takes its time.
      if (results === null && !(outcome === 'timeout' && seconds < BUDGET_S))
        restingUntil.set(peer.url, clock.now() + REST_MS)
      return { peer, results, outcome: text !== null && results === null ? 'no_answer' : outcome }
    }
    try {
      return await Promise.all(peers.map(ask))
    } finally {
      place.release()
      await asker.close()
    }
  }
}

type PeerParts = Pick<Parts, 'config' | 'resolver' | 'release' | 'clock'>

async function readText(asker: Asker, request: Parameters<Asker['ask']>[0]) {
  const reply = await asker.ask(request)
  if (!reply.answered) return { text: null, outcome: reply.failure }
  const { status, body, cut } = reply.answer
  if (request.signal?.aborted) return { text: null, outcome: 'timeout' }
  if (cut !== null) return { text: null, outcome: cut === 'size' ? 'too_large' : 'timeout' }
  return status === 200
    ? { text: body, outcome: 'answered' }
    : { text: null, outcome: `http_${status}` }
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
