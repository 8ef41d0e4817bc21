import { readCompiled } from '../compiled.ts'
import { toSitePaths } from '../domain/pages/site/site-paths.ts'
import { renderSiteSitemaps } from '../render/site-sitemaps.ts'

export function GET(): Response {
  const compiled = readCompiled()
  return new Response(renderSiteSitemaps(compiled.site.base_url, toSitePaths(compiled)).index)
}
