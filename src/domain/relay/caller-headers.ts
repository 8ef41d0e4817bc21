import { DESCRIBES_ANSWER, REGISTERED_FIELDS } from './registered-fields.ts'
import {
  EXPOSED_HEADERS,
  filterHeaders,
  namesInConnection,
  PROXY_NAME,
  type RawHeaders,
  valuesOf,
} from './relayed-headers.ts'

/**
 * Which of a seller's headers reach the caller. Sellers also sign in on our origin, so an answer may
 * speak for itself only: it sets no state there, runs nothing there and fills no cache that others
 * read.
 */
export interface AnswerFacts {
  status: number
  /** True when the request carried a payment. */
  isPaid: boolean
}

/** Unregistered, and orders to a web server in front of us: fetch this of your files for me. */
const FOR_WEB_SERVERS = new Set([
  'x-accel-redirect',
  'x-sendfile',
  'x-lighttpd-send-file',
  'x-reproxy-url',
])

const EXPOSED = EXPOSED_HEADERS.join(', ')

/** The seller's headers as the caller gets them, ours included. */
export function toCallerHeaders(raw: RawHeaders, { status, isPaid }: AnswerFacts): string[] {
  const named = namesInConnection(raw)
  const own = filterHeaders(raw, (name, value) => {
    // A seller that signs with our name would pass its own error off as ours.
    if (name === 'proxy-status' && value.toLowerCase().includes(PROXY_NAME)) return false
    // RFC 9110 §8.6: an answer that cannot have a body has no length.
    if (name === 'content-length' && status === 204) return false
    return isPassed(name) && !named.has(name)
  })
  const isAttached = status !== 402 && valuesOf(own, 'content-type').some(isRunByBrowsers)
  const keepsDisposition = !isAttached || isAttachment(valuesOf(own, 'content-disposition'))
  const isWhole = keepsDisposition && !isPaid
  const kept = isWhole
    ? own
    : filterHeaders(own, (name) => {
        if (name === 'content-disposition') return keepsDisposition
        return !isPaid || !isAboutCaches(name)
      })
  const caches = isPaid ? toPrivate(own) : null
  if (!keepsDisposition) kept.push('Content-Disposition', 'attachment')
  // A relayed page would run on our origin, beside the sellers' sessions.
  kept.push('Content-Security-Policy', 'sandbox', 'X-Content-Type-Options', 'nosniff')
  if (caches !== null) kept.push('Cache-Control', caches)
  else if (valuesOf(own, 'cache-control').length === 0) kept.push('Cache-Control', 'no-store')
  kept.push('Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED)
  return kept
}

/** `Access-Control-` is ours to answer; `Sec-` is kept for browsers, registered or not yet. */
function isPassed(name: string): boolean {
  if (/^(access-control|sec)-/.test(name) || FOR_WEB_SERVERS.has(name)) return false
  return DESCRIBES_ANSWER.has(name) || !REGISTERED_FIELDS.has(name)
}

/**
 * True for types that a browser shows as a document with scripts: HTML, SVG, XML. A value that says
 * several things is read as the worst of them.
 *
 * @example isRunByBrowsers('image/svg+xml; charset=utf-8') // true
 */
function isRunByBrowsers(contentType: string): boolean {
  const types = contentType.toLowerCase().split(/[;,]/)
  return types.some((type) => /^(text\/html|.+[/+]xml|text\/xsl)$/.test(type.trim()))
}

function isAttachment(values: string[]): boolean {
  return values.length === 1 && /^\s*attachment\s*(;|$)/i.test(values[0] ?? '')
}

/** RFC 9213 lets every maker of caches have a field of its own. */
function isForSharedCaches(name: string): boolean {
  return (
    name.endsWith('-cache-control') || name === 'surrogate-control' || name === 'x-accel-expires'
  )
}

/**
 * What was paid for by one is nobody else's: a shared cache would give it away.
 *
 * @example toPrivate(['Cache-Control', 'public, max-age=60']) // 'private, max-age=60'
 */
function toPrivate(raw: RawHeaders): string {
  const directives = valuesOf(raw, 'cache-control').flatMap(
    (value) => value.match(/(?:"(?:[^"\\]|\\.)*"|[^,"])+/g) ?? [],
  )
  const kept = directives
    .map((directive) => directive.trim())
    .filter((directive) => directive !== '' && !/^(public|s-maxage)\s*(=|$)/i.test(directive))
  if (kept.some((directive) => /^(private|no-store)$/i.test(directive))) return kept.join(', ')
  const isSilent = !raw.some((name, index) => index % 2 === 0 && isAboutCaches(name.toLowerCase()))
  return isSilent ? 'no-store' : ['private', ...kept].join(', ')
}

function isAboutCaches(name: string): boolean {
  return name === 'cache-control' || isForSharedCaches(name)
}
