import { readCompiled } from '../compiled.ts'
import { renderSiteSitemaps } from '../components/feeds/site-sitemaps.ts'

export function GET(): Response {
  return new Response(renderSiteSitemaps(readCompiled()).index)
}
