import type { IncomingMessage, ServerResponse } from 'node:http'
import { readSettledTransaction } from '../../src/domain/relay/delivered.ts'
import { PROXY_NAME } from '../../src/domain/relay/relayed-headers.ts'
import { CALL_PREFIX } from '../../src/domain/wire/links.ts'
import { toTransportHeaders } from '../../src/domain/wire/published-files.ts'
import type { Feature, Hints, Parts, Usage } from '../features/feature.ts'
import { createOwnAddress, toGuard } from '../net/guard.ts'
import { currentRequestId } from '../ports/log.ts'
import type { Release } from '../release/release.ts'
import { createBudget } from '../server/budget.ts'
import { isMalformed } from '../server/connections.ts'
import { sendResponse } from '../server/node-answers.ts'
import { nodeClientOf, refusalOf } from '../server/rate-limits.ts'
import {
  type CallPlan,
  createCallProblems,
  createInFlight,
  type MakeCallProblem,
  planCall,
  RELAY_LIMITS,
  type RelayLimits,
} from './call-plan.ts'
import { forwardCall } from './forward-call.ts'
import type { CallObserver, SellerHead } from './seller-call.ts'

/** `ALL /api/v1/call/<id>`, mounted on Node's server itself: raw headers in, raw headers out. */
export type Relay = (req: IncomingMessage, res: ServerResponse) => Promise<void>

/** The relay at its addresses. */
export function toRelayFeature(relay: Relay): Feature {
  return { paths: [{ path: CALL_PREFIX, isBare: true, answer: relay }] }
}

/** The relay knows only the listings of a release, and only the counters of the ledger. */
export type RelayParts = Omit<Parts, 'release' | 'ledger' | 'publishedAt'> & {
  release: () => Pick<Release, 'gone' | 'listings'>
  ledger: { usage: Pick<Usage, 'called'>; hints: Hints }
}

/** Called when a call ends: `seller_402`, `seller_2xx` … `seller_5xx`, or our problem's code. */
type OnOutcome = (outcome: string) => void

/** Bytes of one read of a seller's answer: a caller that reads nothing pins two of them. */
const READ_BYTES = 64 * 1024

/**
 * The non-custodial pass-through (spec: Endpoints). It adds no payment, keeps none and
 * reads none but the settlement header. Never rejects.
 *
 * Security model: a listing of the release says where a call goes, the guard says whether that may be
 * reached, before a connection opens. Two payment headers, or one that `Connection`
 * would drop, are refused: two readers could see two payments. What a client and its network hold at
 * once is limited, in calls, bytes and time.
 *
 * Known limitations: TLS ends here on both sides, so who runs a directory could read what passes. The
 * seller sees our address, not its caller's. A call that breaks after its payment was sent may have
 * settled: nobody here can undo that.
 */
export function createRelay(
  parts: RelayParts,
  limits: RelayLimits = RELAY_LIMITS,
  onOutcome: OnOutcome = () => {},
  observer: CallObserver = NO_OBSERVER,
): Relay {
  const { config, log, clock, ledger, limits: rates } = parts
  const make = createCallProblems(parts.problem, config.BASE_URL)
  const refuse: MakeCallProblem = (problem, extra) => {
    onOutcome(problem.code)
    return make(problem, extra)
  }
  const own = new URL(config.BASE_URL)
  const inFlight = createInFlight(limits.inFlight)
  const guard = {
    ...toGuard('relay', parts),
    connectTimeoutMs: limits.connectMs,
    readInto: Buffer.allocUnsafeSlow(READ_BYTES),
  }
  const everyCall = {
    drains: createBudget(limits.draining, 'replace'),
    ownOrigin: config.BASE_URL,
    transport: Object.entries(toTransportHeaders(config.BASE_URL)).flat(),
    limits,
    refuse,
  }
  /** Gives a call its slot; a response where it gets none, null where the caller has left. */
  const admit = async (req: IncomingMessage, res: ServerResponse, listingId: string) => {
    const client = nodeClientOf(req, config)
    const limited = refusalOf(await rates.take('call', client), parts.problem)
    if (limited !== null) {
      onOutcome('rate-limited')
      limited.headers.set('Proxy-Status', `${PROXY_NAME}; error=http_request_denied`)
      return limited
    }
    // The caller may have left while it was counted, and no event would tell us any more.
    if (res.destroyed || isMalformed(req)) return null
    const slot = inFlight.enter(listingId, client)
    return typeof slot === 'string' ? toBusy(refuse, slot) : { client, slot }
  }
  /** Counts the call, then forwards it: limits are judged before anything is sent, never after. */
  const enter = async (req: IncomingMessage, res: ServerResponse, plan: CallPlan) => {
    const { listing, target, path, expectation } = plan
    const admitted = await admit(req, res, listing.id)
    if (admitted === null) return
    if (admitted instanceof Response) return sendResponse(req, res, admitted)
    ledger.usage.called(listing.id)
    const startedAt = clock.now()
    let status = 0
    const isOwnAddress = createOwnAddress(config.HOST, req.socket)
    try {
      const paid = observer.observe(req, { listing, path, client: admitted.client })
      const onHead = (head: SellerHead) => {
        status = head.status
        onOutcome(toOutcome(status))
        const transaction = paid === null ? readSettledTransaction(head.headers) : paid.transaction
        if (transaction !== null) ledger.hints.note(listing, admitted.client, transaction)
      }
      const call = { ...everyCall, ...admitted, target, path, expectation, onHead, observed: paid }
      await forwardCall(req, res, { ...call, guard: { ...guard, isOwnAddress } })
    } finally {
      admitted.slot.leave()
      const took = clock.now() - startedAt
      log.info('relayed', { listing: listing.id, method: req.method ?? '', status, ms: took })
    }
  }
  return async function relay(req, res) {
    try {
      const plan = planCall(req, { release: parts.release(), config, own, limits, refuse })
      if (plan instanceof Response) await sendResponse(req, res, plan)
      else await enter(req, res, plan)
    } catch (error) {
      const id = currentRequestId() ?? crypto.randomUUID()
      log.error('relay-failed', { id, error: error instanceof Error ? error.name : 'unknown' })
      if (res.headersSent) res.destroy()
      else await sendResponse(req, res, toInternal(refuse, id))
    }
  }
}

function toOutcome(status: number): string {
  return status === 402 ? 'seller_402' : `seller_${Math.floor(status / 100)}xx`
}

function toBusy(refuse: MakeCallProblem, limit: string): Response {
  return refuse({
    code: 'relay-busy',
    error: 'connection_limit_reached',
    detail: `Too many calls are in flight for this ${limit}. Nothing was sent.`,
  })
}

function toInternal(refuse: MakeCallProblem, id: string): Response {
  const detail = 'Something broke on our side; the log has it under this id.'
  return refuse({ code: 'internal', error: 'proxy_internal_error', detail }, { extra: { id } })
}

const NO_OBSERVER: CallObserver = { observe: () => null }
