import { renderSitemap, renderSitemapIndex, URLS_PER_SITEMAP } from './sitemap-xml.ts'

/** The sitemap index over every path, and its shards, which are served at `/sitemap/1.xml` and on. */
export function renderSiteSitemaps(
  baseUrl: string,
  paths: readonly string[],
): { index: string; shards: string[] } {
  const urls = paths.map((path) => `${baseUrl}${path}`)
  const shards = Array.from({ length: Math.ceil(urls.length / URLS_PER_SITEMAP) }, (_, index) =>
    renderSitemap(urls.slice(index * URLS_PER_SITEMAP, (index + 1) * URLS_PER_SITEMAP)),
  )
  const addresses = shards.map((_, index) => `${baseUrl}/sitemap/${index + 1}.xml`)
  return { index: renderSitemapIndex(addresses), shards }
}
