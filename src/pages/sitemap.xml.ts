import { readCompiled } from '../compiled.ts'
import { renderSiteSitemaps, toSitePages } from '../components/feeds/site-sitemaps.ts'

export function GET(): Response {
  const compiled = readCompiled()
  return new Response(renderSiteSitemaps(compiled.site.base_url, toSitePages(compiled)).index)
}
