import { parseJson } from '../../wire/parse-json.ts'

/** The answer to one request of a probe, cut to its limits. */
export interface ProbeAnswer {
  status: number
  /** Lower-case names; repeated lines stay repeated. */
  headers: ReadonlyMap<string, readonly string[]>
  /** Decoded as UTF-8; only the beginning where `cut` is set. */
  body: string
  /** `size`: over our limit. `time`: it stopped coming. `broken`: the connection was lost. */
  cut: 'size' | 'time' | 'broken' | null
  /** From the first byte sent to the answer's head, including the connection. */
  ms: number
}

/** The meaning of no answer at all. Our own faults never count against a seller. */
export const FAILURES = {
  refused: { outcome: 'dead', saw: 'the connection was refused' },
  reset: { outcome: 'dead', saw: 'the connection was reset' },
  timeout: { outcome: 'dead', saw: 'no answer in time' },
  tls: { outcome: 'dead', saw: 'TLS failed' },
  no_such_host: { outcome: 'dead', saw: 'the host name does not exist' },
  dns: { outcome: 'unknown', saw: 'the name servers gave no answer' },
  address_refused: { outcome: 'unprobeable', saw: 'the host is not a public address' },
  own_network: { outcome: 'unknown', saw: 'our own network failed' },
  own_bound: { outcome: 'unknown', saw: 'we ask no longer than one run may' },
  not_http: { outcome: 'wrong_protocol', saw: 'the answer is not HTTP/1.1' },
} as const
export type ProbeFailure = keyof typeof FAILURES

export type ProbeReply =
  | { answered: true; answer: ProbeAnswer }
  | { answered: false; failure: ProbeFailure; detail: string; ms: number }

export function headerOf(answer: ProbeAnswer, name: string): string | undefined {
  return answer.headers.get(name)?.[0]
}

/** The media type without its parameters, lower case; '' where none was sent. */
export function mediaTypeOf(answer: ProbeAnswer): string {
  const [type = ''] = (headerOf(answer, 'content-type') ?? '').split(';')
  return type.trim().toLowerCase()
}

/** @example toHeadText(answer) → 'status 404, text/html' */
export function toHeadText(answer: ProbeAnswer): string {
  return `status ${answer.status}, ${mediaTypeOf(answer) || 'no content type'}`
}

export function isJsonType(mediaType: string): boolean {
  return mediaType === 'application/json' || /^[a-z]+\/[a-z0-9.-]+\+json$/.test(mediaType)
}

/** The body as JSON; undefined if it is not JSON or was cut. */
export function jsonOf(answer: ProbeAnswer): unknown {
  return answer.cut === null ? parseJson(answer.body) : undefined
}

/** Longest wait a seller may ask for: a day, after which a probe is due anyway. */
export const MAX_RETRY_AFTER_S = 86_400

export function retryAfterOf(answer: ProbeAnswer, now: number): number | null {
  const seconds = parseRetryAfter(headerOf(answer, 'retry-after'), now)
  return seconds === null ? null : Math.min(MAX_RETRY_AFTER_S, seconds)
}

/**
 * Seconds that a `Retry-After` asks to wait (RFC 9110); null where it does not.
 *
 * @param now milliseconds since the epoch
 * @example parseRetryAfter('Thu, 01 Jan 1970 00:01:00 GMT', 0) → 60
 */
export function parseRetryAfter(header: string | null | undefined, now: number): number | null {
  const text = header?.trim() ?? ''
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null
}
