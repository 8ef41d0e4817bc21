import { readCompiled } from '../compiled.ts'
import { renderSiteSitemaps, toSitePaths } from '../site/feeds/site-sitemaps.ts'

export function GET(): Response {
  const compiled = readCompiled()
  return new Response(renderSiteSitemaps(compiled.site.base_url, toSitePaths(compiled)).index)
}
