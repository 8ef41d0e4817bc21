import { EXPECT_HEADER } from '../../../src/domain/pins/offer.ts'
import { callPath } from '../../../src/domain/wire/links.ts'
import { type AskOptions, toFailure } from './ask.ts'
import { type Lock, pinnedIn, toExpected } from './lock.ts'
import { type PaymentTerms, type PayWith, readTerms, receiptOf, signPayment } from './payment.ts'
import { WaypostError } from './waypost-error.ts'

export interface CallRequest {
  /** A path, or an https URL on the seller's host; the listing's own URL without it. */
  endpoint?: string | undefined
  /** GET without it, POST where there is a body. */
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | undefined
  headers?: Record<string, string> | undefined
  /** Text and bytes go as they stand, anything else as JSON. */
  body?: unknown
  /** Pays where the seller asks for it; without it a 402 is handed back with its terms. */
  pay?: PayWith | undefined
  /** What `waypost pin` wrote: where listing, payee or price are not as pinned, nothing is paid. */
  lock?: Lock | undefined
  signal?: AbortSignal | undefined
  /** Milliseconds each of the two requests may take until its answer begins. */
  timeoutMs?: number | undefined
}

export interface CallReply {
  /** The seller's answer, or the relay's refusal (`application/problem+json`), unread. */
  response: Response
  /** What the seller asked for, where it asked. */
  terms?: PaymentTerms
  /** A payment was sent along; whether it settled, the receipt says. */
  paid: boolean
  /** The seller's word on the settlement. */
  receipt?: unknown
}

/** Sellers settle after they answer: a paid call that is given up early may have been paid. */
const PAID_TIMEOUT = 330_000

/**
 * One call through the relay. It is sent once, and once more with a payment where `pay` allows it:
 * nothing that may cost money or change something is ever repeated.
 *
 * @throws WaypostError `changed` where a lock is not kept, `over-budget`, `unreachable`, `timeout`, or `payment-unsure` when an answer
 *   to a paid request never came
 */
export async function callThroughRelay(
  baseUrl: string,
  id: string,
  request: CallRequest,
  options: AskOptions,
): Promise<CallReply> {
  const { endpoint, pay, timeoutMs } = request
  const query = endpoint === undefined ? '' : `?endpoint=${encodeURIComponent(endpoint)}`
  let url = `${baseUrl}${callPath(encodeURIComponent(id))}${query}`
  const entry = request.lock && pinnedIn(request.lock, id)
  const expected = entry && { [EXPECT_HEADER]: toExpected(entry) }
  const unpaid = { ...options, timeoutMs: timeoutMs ?? options.timeoutMs }
  let first = await send(url, request, { ...expected }, unpaid)
  const moved = first.status === 308 ? first.headers.get('location') : null
  if (moved?.startsWith(callPath('')) === true) {
    await first.body?.cancel()
    url = baseUrl + moved
    first = await send(url, request, { ...expected }, unpaid)
  }
  if (entry !== undefined) await refuseChanged(first)
  const terms = first.status === 402 ? await readTerms(first) : null
  if (pay === undefined || terms === null)
    return { response: first, paid: false, ...(terms !== null && { terms }) }
  const header = await signPayment(terms, pay, entry)
  await first.body?.cancel()
  const paidOptions = { ...options, timeoutMs: timeoutMs ?? PAID_TIMEOUT }
  const sent = { ...expected, [header.name]: header.value }
  const response = await sendPaid(url, request, sent, paidOptions)
  if (entry !== undefined) await refuseChanged(response)
  return { response, terms, paid: true, receipt: receiptOf(response) }
}

/** The relay's own word that something is not as pinned; a seller's 409 is its answer. */
async function refuseChanged(response: Response): Promise<void> {
  if (response.status !== 409 || !response.headers.has('proxy-status')) return
  const { detail = '' }: { detail?: string } = await response.clone().json()
  throw new WaypostError('changed', detail, { status: 409 })
}

async function sendPaid(
  url: string,
  request: CallRequest,
  payment: Record<string, string>,
  options: AskOptions,
): Promise<Response> {
  try {
    return await send(url, request, payment, options)
  } catch (cause) {
    throw new WaypostError(
      'payment-unsure',
      `No answer came to the paid call (${cause instanceof Error ? cause.message : cause}). It may have been paid: look at the wallet before trying again.`,
      { cause },
    )
  }
}

async function send(
  url: string,
  { method, headers = {}, body, signal }: CallRequest,
  payment: Record<string, string>,
  options: AskOptions,
): Promise<Response> {
  const stop = new AbortController()
  const patience = setTimeout(() => stop.abort(), options.timeoutMs)
  const isPlain = body === undefined || typeof body === 'string' || body instanceof Uint8Array
  const isTyped = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  try {
    return await options.fetch(url, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      redirect: 'manual',
      headers: {
        ...(!isPlain && !isTyped && { 'content-type': 'application/json' }),
        ...options.headers,
        ...headers,
        ...payment,
      },
      ...(body !== undefined && { body: toBody(body) }),
      signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
    })
  } catch (cause) {
    if (signal?.aborted === true) throw signal.reason
    throw toFailure(url, stop.signal.aborted, options.timeoutMs, cause)
  } finally {
    clearTimeout(patience)
  }
}

function toBody(body: unknown): BodyInit {
  if (typeof body === 'string') return body
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body)
}
