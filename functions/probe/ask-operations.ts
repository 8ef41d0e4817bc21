import type {
  Handshake,
  OtherRequest,
  PlannedRequest,
} from '../../src/domain/probe/keep/probe-plan.ts'
import { toFailureFinding } from '../../src/domain/probe/read/common-outcome.ts'
import type { Finding, OtherAnswer } from '../../src/domain/probe/read/finding.ts'
import { judgeHttp } from '../../src/domain/probe/read/judge-http.ts'
import { judgePayment } from '../../src/domain/probe/read/judge-payment.ts'
import type { ProbeReply } from '../../src/domain/probe/read/probe-answer.ts'
import { largestOf } from '../../src/domain/wire/extremes.ts'
import type { Rail } from '../../src/domain/wire/vocabulary.ts'
import type { Asker } from './ask.ts'

type OneAsker = Pick<Asker, 'ask'>
type OfOperations = Extract<Handshake, { kind: 'payment' | 'http' }>

/**
 * Asks the operations of an HTTP listing one after another. The first decides what the listing is;
 * the others are asked once it spoke, and add what they say.
 *
 * @param deadline ends the whole handshake: what it cuts off says nothing of the seller
 */
export async function askOperations(
  handshake: OfOperations,
  asker: OneAsker,
  now: () => number,
  deadline: AbortSignal,
): Promise<Finding> {
  const rails = handshake.kind === 'payment' ? handshake.rails : []
  const first = await askFirst(handshake, asker, now)
  if (first.outcome !== 'spoke' || handshake.others === undefined) return first
  const others = await askOthers(handshake.others, rails, asker, now, deadline)
  const waits = others.flatMap(({ finding }) => finding.retryAfterS ?? [])
  return {
    ...first,
    ...(others.length > 0 && { others }),
    ...(waits.length > 0 && { retryAfterS: largestOf(waits) }),
  }
}

async function askFirst(
  handshake: OfOperations,
  asker: OneAsker,
  now: () => number,
): Promise<Finding> {
  const { request } = handshake
  if (handshake.kind === 'payment') {
    const { operation, rails, is_guess } = handshake
    const reply = await asker.ask(toAsked(request, null))
    if (!reply.answered) return toFailureFinding(protocolOf(rails), reply)
    return judgePayment(reply.answer, { ...operation, isGuess: is_guess }, rails, now())
  }
  const { operation = { method: request.method, url: request.url }, expected } = handshake
  const reply = await asker.ask(toAsked(request, expected))
  if (!reply.answered) return toFailureFinding('http', reply)
  return judgeHttp(reply.answer, operation, expected, now())
}

async function askOthers(
  planned: readonly OtherRequest[],
  rails: readonly Rail[],
  asker: OneAsker,
  now: () => number,
  deadline: AbortSignal,
): Promise<OtherAnswer[]> {
  const answers: OtherAnswer[] = []
  for (const other of planned) {
    const { request, operation, is_paid, expected } = other
    const reply = await asker.ask(toAsked(request, is_paid ? null : expected))
    if (deadline.aborted) break
    const finding = judgeOther(reply, other, rails, now())
    answers.push({ operation, finding })
    // It asked to be left alone, or our own network failed: the rest waits for another run.
    if (finding.outcome === 'unknown') break
  }
  return answers
}

function judgeOther(
  reply: ProbeReply,
  { operation, is_paid, is_guess, expected }: OtherRequest,
  rails: readonly Rail[],
  now: number,
): Finding {
  if (!reply.answered) return toFailureFinding(is_paid ? protocolOf(rails) : 'http', reply)
  const { answer } = reply
  // What is listed as free and asks for money is read too: its price has changed.
  const isPayment = is_paid || (answer.status === 402 && rails.length > 0)
  return isPayment
    ? judgePayment(answer, { ...operation, isGuess: is_guess }, rails, now)
    : judgeHttp(answer, operation, expected, now)
}

function toAsked({ method, url, headers, body }: PlannedRequest, expected: string | null) {
  const accept = expected === null ? {} : { accept: expected }
  return { method, url, headers: { ...accept, ...headers }, ...(body !== undefined && { body }) }
}

function protocolOf(rails: readonly Rail[]): Rail {
  return rails.includes('x402') ? 'x402' : 'mpp'
}
