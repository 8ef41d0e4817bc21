import { parse } from 'tldts'
import { judgeCard } from '../../src/domain/probe/a2a.ts'
import {
  type Finding,
  type OtherAnswer,
  toFailureFinding,
  toFinding,
} from '../../src/domain/probe/finding.ts'
import type { Handshake, OtherRequest } from '../../src/domain/probe/plan.ts'
import { judgeHttp, judgePayment } from '../../src/domain/probe/x402.ts'
import { judgeHeard, withDocument } from '../../src/domain/sellers/lint.ts'
import { largestOf } from '../../src/domain/wire/json.ts'
import type { Rail } from '../../src/domain/wire/vocabulary.ts'
import type { Fetcher } from '../net/http-client.ts'
import { probeMcp, probeMcpSse } from './mcp.ts'

/** Time limit of a whole handshake, however many requests it takes (milliseconds). */
const HANDSHAKE_MS = 45_000

/**
 * One probe: sends the planned requests and returns the outcome. It pays nothing, sends no message
 * to an agent, follows no redirect and calls nothing that is not declared safe. Never rejects.
 *
 * @param now milliseconds since the epoch
 */
export async function probeHandshake(
  handshake: Handshake,
  { fetch }: Fetcher,
  now: () => number,
): Promise<Finding> {
  const deadline = AbortSignal.timeout(HANDSHAKE_MS)
  const client: Fetcher = {
    fetch: ({ signal = deadline, ...request }) =>
      fetch({ ...request, signal: AbortSignal.any([deadline, signal]) }),
  }
  switch (handshake.kind) {
    case 'payment':
    case 'http':
      return askOperations(handshake, client, now, deadline)
    case 'mcp':
      return probeMcp({ url: handshake.url, isPaid: handshake.is_paid, client, now })
    case 'mcp_sse':
      return probeMcpSse({ url: handshake.url, isPaid: handshake.is_paid, client, now })
    case 'a2a':
      return probeCard(handshake.urls, client, now)
    case 'none': {
      const { protocol, reason: saw } = handshake
      return toFinding({ protocol, outcome: 'unprobeable', saw })
    }
  }
}

/** The card's paths in turn: only a 404 leads on to the next. */
async function probeCard(urls: readonly string[], client: Fetcher, now: () => number) {
  const [url = '', ...others] = urls
  const headers = { 'a2a-version': '1.0' }
  const reply = await client.fetch({ method: 'GET', url, headers })
  if (!reply.answered) return toFailureFinding('a2a', reply)
  if (reply.answer.status === 404 && others.length > 0) return probeCard(others, client, now)
  return judgeCard(reply.answer, url, isSameSite, now())
}

/** @example isSameSite('api.foo.com', 'foo.com') → true; isSameSite('a.vercel.app', 'b.vercel.app') → false */
function isSameSite(left: string, right: string): boolean {
  const [a, b] = [left, right].map((host) => parse(host, { allowPrivateDomains: true }).domain)
  return left === right || (a !== null && a !== undefined && a === b)
}

type OfOperations = Extract<Handshake, { kind: 'payment' | 'http' }>

/**
 * Probes the operations of an HTTP listing in turn: the first decides what the listing is.
 *
 * @param deadline ends the whole handshake: cut-off requests say nothing about the seller
 */
export async function askOperations(
  handshake: OfOperations,
  client: Fetcher,
  now: () => number,
  deadline: AbortSignal,
): Promise<Finding> {
  const rails = handshake.kind === 'payment' ? handshake.rails : []
  const ask = (request: OtherRequest) => askOne(request, rails, client, now)
  const first = await ask(toFirst(handshake))
  if (first.outcome !== 'spoke' || handshake.others === undefined) return first
  const others: OtherAnswer[] = []
  for (const other of handshake.others) {
    const finding = await ask(other)
    if (deadline.aborted) break
    others.push({ operation: other.operation, finding })
    // It wants to be left alone, or our own network failed: the rest waits for another run.
    if (finding.outcome === 'unknown') break
  }
  const waits = others.flatMap(({ finding }) => finding.retryAfterS ?? [])
  return {
    ...first,
    ...(others.length > 0 && { others }),
    ...(waits.length > 0 && { retryAfterS: largestOf(waits) }),
  }
}

function toFirst(handshake: OfOperations): OtherRequest {
  const { request } = handshake
  if (handshake.kind === 'payment') return { ...handshake, is_paid: true, expected: null }
  const { operation = { method: request.method, url: request.url }, expected, shape } = handshake
  return { request, operation, is_paid: false, is_guess: false, expected, shape }
}

async function askOne(
  { request, operation, is_paid, is_guess, expected, shape }: OtherRequest,
  rails: readonly Rail[],
  client: Fetcher,
  now: () => number,
): Promise<Finding> {
  const { body, headers, ...requested } = request
  const accept = is_paid || expected === null ? {} : { accept: expected }
  const reply = await client.fetch({
    ...requested,
    headers: { ...accept, ...headers },
    ...(body !== undefined && { body }),
  })
  const protocol = rails.includes('x402') ? 'x402' : 'mpp'
  if (!reply.answered) return toFailureFinding(is_paid ? protocol : 'http', reply)
  const { answer } = reply
  // An operation listed as free that asks for money is read too: its price has changed.
  const isPayment = is_paid || (answer.status === 402 && rails.length > 0)
  if (isPayment) return judgePayment(answer, { ...operation, isGuess: is_guess }, rails, now())
  const finding = judgeHttp(answer, operation, expected, now())
  if (finding.outcome === 'spoke' && expected === null)
    return withDocument(finding, answer, request.url)
  if (finding.outcome !== 'spoke' || expected === null || shape === undefined) return finding
  const judged = judgeHeard({ content_type: expected, ...shape }, answer)
  return { ...finding, ...(judged !== null && { judged }) }
}
