import { EXPECT_HEADER } from '../../../src/domain/relay/pins.ts'
import { callPath, kitPath } from '../../../src/domain/wire/links.ts'
import type { CompactKit } from './answers.ts'
import { findCall, type Lock, type LockEntry, pinnedIn, toExpected } from './lock.ts'
import {
  type PaymentTerms,
  type PayWith,
  type Quote,
  readQuotes,
  readTerms,
  receiptOf,
  signCheapest,
} from './payment.ts'
import { type AskOptions, askJson, discard, MAX_ANSWER_BYTES, send, toHeaders } from './requests.ts'
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
  /** Milliseconds each of the two requests may take until its answer is read. */
  timeoutMs?: number | undefined
  /** The longest answer that is read, unpacked; 64 MiB without it. */
  maxBytes?: number | undefined
}

export interface CallReply {
  /**
   * The seller's answer, or the relay's refusal (`application/problem+json`), unread. Its body fails
   * with a WaypostError where it is too long, too slow or breaks off.
   */
  response: Response
  /** The seller's x402 terms, where it requested payment by them. */
  terms?: PaymentTerms
  /** The payment that was sent along; the receipt says whether it settled. */
  paid?: Pick<Quote, 'rail' | 'usd' | 'payee'>
  /** The seller's report on the settlement. */
  receipt?: unknown
}

/** Sellers settle after they answer: a paid call that is aborted early may have been paid. */
const PAID_TIMEOUT = 330_000

/**
 * One call through the relay. It is sent once, and once more with a payment where `pay` allows it:
 * nothing that may cost money or change something is ever repeated.
 *
 * @throws WaypostError `changed` where a lock is not kept, `over-budget` and `wallet-refused` before
 *   anything is paid, `too-large`, `unreachable`, `timeout`, or `payment-unsure` when an answer to a
 *   paid request never came
 */
export async function callThroughRelay(
  baseUrl: string,
  id: string,
  request: CallRequest,
  options: AskOptions,
): Promise<CallReply> {
  const { pay, lock } = request
  const entry = lock && pinnedIn(lock, id)
  const call = { baseUrl, id, request, options }
  const { response: first, url, expected } = await callUnpaid(call, entry)
  const terms = first.status === 402 ? await readTerms(first) : null
  const reply = { response: first, ...(terms !== null && { terms }) }
  if (pay === undefined || first.status !== 402) return reply
  const { quote, payment } = await signCheapest(readQuotes(first, terms, pay), pay.maxUsd, entry)
  discard(first)
  const sent = { ...expected, [payment.name]: payment.value }
  const timeoutMs = request.timeoutMs ?? PAID_TIMEOUT
  const response = await sendCall(call, url, sent, timeoutMs).catch((cause: unknown) => {
    throw toUnsure(cause)
  })
  if (entry !== undefined) await refuseChanged(response)
  const { rail, usd, payee } = quote
  return { ...reply, response, paid: { rail, usd, payee }, receipt: receiptOf(response) }
}

interface Call {
  baseUrl: string
  id: string
  request: CallRequest
  options: AskOptions
}

/** The call without payment; where the listing moved or is pinned, the one that the relay takes. */
async function callUnpaid(call: Call, entry: LockEntry | undefined) {
  const { baseUrl, id, request, options } = call
  const { endpoint, timeoutMs = options.timeoutMs } = request
  const query = endpoint === undefined ? '' : `?endpoint=${encodeURIComponent(endpoint)}`
  let url = `${baseUrl}${callPath(encodeURIComponent(id))}${query}`
  let expected = entry && (await toExpectHeader(call, entry, entry.digest))
  let response = await sendCall(call, url, { ...expected }, timeoutMs)
  const moved = response.status === 308 ? response.headers.get('location') : null
  if (moved?.startsWith(callPath('')) === true) {
    discard(response)
    url = baseUrl + moved
    response = await sendCall(call, url, { ...expected }, timeoutMs)
  }
  const refusal = entry && (await findRefusal(response))
  if (entry !== undefined && refusal) {
    // Another of its calls may have changed, but not this one.
    expected = await toExpectHeader(call, entry, null, refusal)
    response = await sendCall(call, url, { ...expected }, timeoutMs)
    await refuseChanged(response)
  }
  return { response, url, expected }
}

/**
 * What the relay must hold the call to: the listing as it was pinned, or, without a digest, its
 * current state if the call itself is as pinned.
 *
 * @throws WaypostError `changed` where it is not
 */
async function toExpectHeader(
  call: Call,
  entry: LockEntry,
  digest: string | null,
  refusal?: WaypostError,
): Promise<Record<string, string>> {
  if (digest !== null) return { [EXPECT_HEADER]: toExpected(entry, digest) }
  const { endpoint, body, method = body === undefined ? 'GET' : 'POST' } = call.request
  const name = findCall(entry, method, endpoint)
  const kit = name && (await readKit(call, name))
  const isMoot = refusal !== undefined && kit && kit.digest === entry.digest
  if (!kit || isMoot || kit.operation.digest !== entry.calls[name]) {
    const detail = `${method} ${endpoint ?? call.id} is not as pinned. Nothing was sent.`
    throw refusal ?? new WaypostError('changed', detail)
  }
  return { [EXPECT_HEADER]: toExpected(entry, kit.digest) }
}

/** @returns nothing for a listing or call that has gone */
async function readKit({ baseUrl, id, request, options }: Call, name: string) {
  const query = `?view=compact&operation=${encodeURIComponent(name)}`
  const url = baseUrl + kitPath(encodeURIComponent(id)) + query
  const requested = { url, signal: request.signal ?? null, mayRepeat: true }
  try {
    return await askJson<CompactKit>(requested, options)
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

function toUnsure(cause: unknown): WaypostError {
  const why = cause instanceof Error ? cause.message : cause
  const detail = `No answer came to the paid call (${why}). It may have been paid: look at the wallet before trying again.`
  return new WaypostError('payment-unsure', detail, { cause })
}

function sendCall(
  { request, options }: Call,
  url: string,
  added: Record<string, string>,
  timeoutMs: number,
): Promise<Response> {
  const { headers, body, signal = null, maxBytes = MAX_ANSWER_BYTES } = request
  const isPlain = body === undefined || typeof body === 'string' || body instanceof Uint8Array
  const type: Record<string, string> = isPlain ? {} : { 'content-type': 'application/json' }
  return send(
    {
      url,
      method: request.method ?? (body === undefined ? 'GET' : 'POST'),
      redirect: 'manual',
      headers: toHeaders(type, options.headers, headers, added),
      ...(body !== undefined && { body: toBody(body) }),
      signal,
    },
    { fetch: options.fetch, timeoutMs, maxBytes },
  )
}

function toBody(body: unknown): BodyInit {
  if (typeof body === 'string') return body
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body)
}
