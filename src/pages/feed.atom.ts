import { readCompiled } from '../compiled.ts'
import { renderAtomFeed, toListingFeed } from '../components/feeds/atom-feed.ts'

export function GET(): Response {
  return new Response(renderAtomFeed(toListingFeed(readCompiled(), '/feed.atom')))
}
