import { readCompiled } from '../compiled.ts'
import { toSitePaths } from '../site/feeds/site-paths.ts'
import { renderSiteSitemaps } from '../site/feeds/site-sitemaps.ts'

export function GET(): Response {
  const compiled = readCompiled()
  return new Response(renderSiteSitemaps(compiled.site.base_url, toSitePaths(compiled)).index)
}
