import { EXPECT_HEADER } from '../../../src/domain/pins/offer.ts'
import { callPath, kitPath } from '../../../src/domain/wire/links.ts'
import type { CompactKit } from './answers.ts'
import { type AskOptions, askJson, toFailure } from './ask.ts'
import { findCall, type Lock, type LockEntry, pinnedIn, toExpected } from './lock.ts'
import { type PaymentTerms, type PayWith, readTerms, receiptOf, signPayment } from './payment.ts'
import { WaypostError } from './waypost-error.ts'

export interface CallRequest {
  /** A path, or an https URL on the seller's host; the listing's own URL without it. */
  endpoint?: string | undefined
  /** GET without it, POST where there is a body. */
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | undefined
  headers?: Record<string, string> | undefined
  /** Text and bytes are sent as they are, anything else as JSON. */
  body?: unknown
  /** Pays where the seller asks for it; without it a 402 is returned with its terms. */
  pay?: PayWith | undefined
  /** The lock of `waypost pin`: if listing, payee or price differ from it, nothing is paid. */
  lock?: Lock | undefined
  signal?: AbortSignal | undefined
  /** Milliseconds each of the two requests may take until its answer begins. */
  timeoutMs?: number | undefined
}

export interface CallReply {
  /** The seller's answer, or the relay's refusal (`application/problem+json`), unread. */
  response: Response
  /** The seller's terms, where it asked for payment. */
  terms?: PaymentTerms
  /** A payment was sent along; the receipt says whether it settled. */
  paid: boolean
  /** The seller's report on the settlement. */
  receipt?: unknown
}

/** Sellers settle after they answer: a paid call that is aborted early may have been paid. */
export const PAID_TIMEOUT = 330_000

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
  const { endpoint, pay, timeoutMs, lock } = request
  const query = endpoint === undefined ? '' : `?endpoint=${encodeURIComponent(endpoint)}`
  let url = `${baseUrl}${callPath(encodeURIComponent(id))}${query}`
  const entry = lock && pinnedIn(lock, id)
  const pinned = { baseUrl, id, request, options }
  let expected = entry && (await toHeader(pinned, entry, entry.digest))
  const unpaid = { ...options, timeoutMs: timeoutMs ?? options.timeoutMs }
  let first = await send(url, request, { ...expected }, unpaid)
  const moved = first.status === 308 ? first.headers.get('location') : null
  if (moved?.startsWith(callPath('')) === true) {
    await first.body?.cancel()
    url = baseUrl + moved
    first = await send(url, request, { ...expected }, unpaid)
  }
  const refusal = entry && (await findRefusal(first))
  if (entry !== undefined && refusal) {
    // Another of its calls may have changed, but not this one.
    expected = await toHeader(pinned, entry, null, refusal)
    first = await send(url, request, { ...expected }, unpaid)
    await refuseChanged(first)
  }
  const terms = first.status === 402 ? await readTerms(first) : null
  if (pay === undefined || terms === null)
    return { response: first, paid: false, ...(terms !== null && { terms }) }
  const header = await signPayment(terms, pay, entry)
  await first.body?.cancel()
  const paidOptions = { ...options, timeoutMs: timeoutMs ?? PAID_TIMEOUT }
  const sent = { ...expected, [header.name]: header.value }
  const response = await send(url, request, sent, paidOptions).catch((cause: unknown) => {
    throw toUnsure(cause)
  })
  if (entry !== undefined) await refuseChanged(response)
  return { response, terms, paid: true, receipt: receiptOf(response) }
}

interface PinnedCall {
  baseUrl: string
  id: string
  request: CallRequest
  options: AskOptions
}

/**
 * What the relay must hold the call to: the listing as it was pinned, or, without a digest, its
 * current state if the call itself is as pinned.
 *
 * @throws WaypostError `changed` where it is not
 */
async function toHeader(
  pinned: PinnedCall,
  entry: LockEntry,
  digest: string | null,
  refusal?: WaypostError,
): Promise<Record<string, string>> {
  if (digest !== null) return { [EXPECT_HEADER]: toExpected(entry, digest) }
  const { endpoint, body, method = body === undefined ? 'GET' : 'POST' } = pinned.request
  const call = findCall(entry, method, endpoint)
  const kit = call && (await readKit(pinned, call))
  const isMoot = refusal !== undefined && kit && kit.digest === entry.digest
  if (!kit || isMoot || kit.operation.digest !== entry.calls[call]) {
    const detail = `${method} ${endpoint ?? pinned.id} is not as pinned. Nothing was sent.`
    throw refusal ?? new WaypostError('changed', detail)
  }
  return { [EXPECT_HEADER]: toExpected(entry, kit.digest) }
}

/** @returns nothing for a listing or call that has gone */
async function readKit({ baseUrl, id, request, options }: PinnedCall, call: string) {
  const query = `?view=compact&operation=${encodeURIComponent(call)}`
  const url = baseUrl + kitPath(encodeURIComponent(id)) + query
  try {
    return await askJson<CompactKit>({ url, signal: request.signal, mayRepeat: true }, options)
  } catch (error) {
    if (error instanceof WaypostError && [400, 404, 410].includes(error.status)) return undefined
    throw error
  }
}

/** Whether the relay reports that something is not as pinned; a seller's 409 is its answer. */
async function findRefusal(response: Response): Promise<WaypostError | undefined> {
  if (response.status !== 409 || !response.headers.has('proxy-status')) return undefined
  const { detail = '' }: { detail?: string } = await response.json()
  return new WaypostError('changed', detail, { status: 409 })
}

async function refuseChanged(response: Response): Promise<void> {
  const refusal = await findRefusal(response)
  if (refusal !== undefined) throw refusal
}

export function toUnsure(cause: unknown): WaypostError {
  const why = cause instanceof Error ? cause.message : cause
  const detail = `No answer came to the paid call (${why}). It may have been paid: look at the wallet before trying again.`
  return new WaypostError('payment-unsure', detail, { cause })
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
  const isTyped = isPlain || new Headers(headers).has('content-type')
  try {
    return await options.fetch(url, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      redirect: 'manual',
      headers: {
        ...(!isTyped && { 'content-type': 'application/json' }),
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
