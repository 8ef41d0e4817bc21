import { type H3Event, HTTPResponse } from 'h3'
import { CLICK_SOURCES, type ClickSource } from '../../src/domain/wire/vocabulary.ts'
import { clientOf } from '../limits/client-key.ts'
import type { Parts } from '../parts/parts.ts'
import { type Click, toHour } from '../store/schema/click.ts'

/**
 * `GET /go/<listing_id>`: an anonymous click, then 302 to the listing's own URL. The
 * address comes from the release and from nothing in the request.
 */
export function createGo(parts: Parts): (event: H3Event) => Promise<Response | HTTPResponse> {
  const { problem, config } = parts
  return async function go(event) {
    const { req } = event
    const id = event.context.params?.listing_id ?? ''
    const listing = parts.release().listings.get(id)
    if (listing === undefined) {
      return problem('listing-not-found', {
        detail: 'No listing has this id; search shows the ids.',
      })
    }
    const { headers } = req
    const { allowed: isCounted } = await parts.limits.take('go', clientOf(req, config))
    const click = toClick(
      {
        listingId: listing.id,
        method: req.method,
        query: queryOf(req.url),
        userAgent: headers.get('user-agent'),
        purpose: headers.get('sec-purpose') ?? headers.get('purpose'),
      },
      parts.clock.now(),
    )
    // A client over its limit is still redirected. Its clicks are not counted.
    if (isCounted) await parts.ledger.clicks.write(click)
    // Cheaper than a Response: this route is the hottest of all.
    return new HTTPResponse(null, {
      status: 302,
      statusText: 'Found',
      headers: {
        'Content-Length': '0',
        Location: listing.url,
        'Cache-Control': 'no-store',
        'Referrer-Policy': 'no-referrer',
      },
    })
  }
}

function queryOf(url: string): string {
  const at = url.indexOf('?')
  return at === -1 ? '' : url.slice(at + 1)
}

/** What a click tells about itself. Header values are looked at here and kept nowhere. */
export interface ClickRequest {
  listingId: string
  method: string
  query: string
  userAgent: string | null
  /** `Sec-Purpose`, or `Purpose` of older browsers. */
  purpose: string | null
}

/** Positions past this are nobody's click on a result list. */
const MAX_POSITION = 10_000

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const POSITION = /^[1-9]\d{0,4}$/
const SOURCES: ReadonlySet<string> = new Set(CLICK_SOURCES)

/** Crawlers and link previews that say what they are. Plain HTTP clients are agents: they count. */
const BOT =
  /bot\b|bot[/;)]|crawl|spider|slurp|facebookexternalhit|mediapartners|bingpreview|yandeximages|headlesschrome|lighthouse|pingdom|uptimerobot|archiver|whatsapp|skypeuripreview|google-(?:read-aloud|inspectiontool|safety)|feedfetcher|bytespider/i

/**
 * A bad `sid`, `pos` or `src` becomes null: it never costs the redirect, and nothing of the
 * request's own text reaches the store.
 */
function toClick(request: ClickRequest, now: number): Click {
  const fields = readFields(request.query)
  const { sid, pos, src } = fields
  return {
    hour: toHour(now),
    listing_id: request.listingId,
    sid: sid !== undefined && UUID.test(sid) ? sid : null,
    pos: pos !== undefined && POSITION.test(pos) ? clampPosition(Number(pos)) : null,
    src: isSource(src) ? src : null,
    bot: isBot(request),
  }
}

interface Fields {
  sid?: string
  pos?: string
  src?: string
}

/** First one wins. Valid values need no decoding, so an escaped one is simply not valid. */
function readFields(query: string): Fields {
  const fields: Fields = {}
  if (query === '') return fields
  for (const pair of query.split('&', 16)) {
    if (pair.startsWith('sid=')) fields.sid ??= pair.slice(4)
    else if (pair.startsWith('pos=')) fields.pos ??= pair.slice(4)
    else if (pair.startsWith('src=')) fields.src ??= pair.slice(4)
  }
  return fields
}

function clampPosition(position: number): number | null {
  return position <= MAX_POSITION ? position : null
}

function isSource(text: string | undefined): text is ClickSource {
  return text !== undefined && SOURCES.has(text)
}

function isBot({ method, userAgent, purpose }: ClickRequest): boolean {
  if (method === 'HEAD') return true
  if (purpose !== null && /prefetch|prerender|preview/i.test(purpose)) return true
  return userAgent !== null && BOT.test(userAgent)
}
