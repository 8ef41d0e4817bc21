import { type H3Event, HTTPResponse } from 'h3'
import { clientKey } from '../limits/client-key.ts'
import type { Parts } from '../parts/parts.ts'
import { toClick } from './go-click.ts'

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
    const client = clientKey(req.ip, headers.get('x-forwarded-for'), config.TRUST_PROXY)
    const { allowed: isCounted } = await parts.limits.take('go', client)
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
