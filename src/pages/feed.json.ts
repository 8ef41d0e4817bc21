import { readCompiled } from '../compiled.ts'
import { toJsonFeed, toListingFeed } from '../components/feeds/atom-feed.ts'

export function GET(): Response {
  return new Response(
    `${JSON.stringify(toJsonFeed(toListingFeed(readCompiled(), '/feed.json')))}\n`,
  )
}
