import { type H3Event, HTTPResponse } from 'h3'
import { CLICK_SOURCES } from '../../src/domain/wire/vocabulary.ts'
import type { Parts } from '../parts/parts.ts'
import { toUnknownText } from '../release/release.ts'
import { splitTarget } from '../server/node-answers.ts'
import { clientOf } from '../server/rate-limits.ts'
import { type Click, toHour } from '../store/store.ts'

/** `GET /go/<listing_id>`: counts a click, then 302 to the URL that the release has, no other. */
export function createGo(parts: Parts): (event: H3Event) => Promise<Response | HTTPResponse> {
  const { problem, config } = parts
  return async function go(event) {
    const { req } = event
    const id = event.context.params?.listing_id ?? ''
    const listing = parts.release().listings.get(id)
    if (listing === undefined) {
      return problem('listing-not-found', { detail: toUnknownText(parts.release(), id) })
    }
    const { allowed: isCounted } = await parts.limits.take('go', clientOf(req, config))
    // A client over its limit is still redirected. Its clicks are not counted.
    if (isCounted) await parts.ledger.clicks.write(toClick(req, listing.id, parts.clock.now()))
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

/** Positions past this are nobody's click on a result list. */
const MAX_POSITION = 10_000

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const POSITION = /^[1-9]\d{0,4}$/

/** Self-declared crawlers and link previews. Plain HTTP clients are agents: they count. */
const BOT =
  /bot\b|bot[/;)]|crawl|spider|slurp|facebookexternalhit|mediapartners|bingpreview|yandeximages|headlesschrome|lighthouse|pingdom|uptimerobot|archiver|whatsapp|skypeuripreview|google-(?:read-aloud|inspectiontool|safety)|feedfetcher|bytespider/i

/**
 * The facts of a click; header values are inspected here and kept nowhere. A bad `sid`, `pos` or
 * `src` becomes null: it never costs the redirect, and no text of the request reaches the store.
 */
function toClick(req: Request, listing_id: string, now: number): Click {
  const { sid = '', pos = '', src } = readFields(splitTarget(req.url).query)
  return {
    hour: toHour(now),
    listing_id,
    sid: UUID.test(sid) ? sid : null,
    pos: POSITION.test(pos) && Number(pos) <= MAX_POSITION ? Number(pos) : null,
    src: CLICK_SOURCES.find((source) => source === src) ?? null,
    bot: isBot(req),
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

function isBot({ method, headers }: Request): boolean {
  // `Purpose` is what older browsers send.
  const purpose = headers.get('sec-purpose') ?? headers.get('purpose') ?? ''
  if (method === 'HEAD' || /prefetch|prerender|preview/i.test(purpose)) return true
  return BOT.test(headers.get('user-agent') ?? '')
}
