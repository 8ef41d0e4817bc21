import { readCompiled } from '../compiled.ts'
import { renderAtomFeed, toListingFeed } from '../site/feeds/atom-feed.ts'

export function GET(): Response {
  const { site, listings } = readCompiled()
  const feed = toListingFeed(listings, {
    baseUrl: site.base_url,
    name: site.texts.name,
    path: '/feed.atom',
  })
  return new Response(renderAtomFeed(feed))
}
