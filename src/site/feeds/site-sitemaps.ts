import { toXmlText } from '../frame/xml-text.ts'

/** URLs in one sitemap; the protocol allows 50,000. */
const URLS_PER_SITEMAP = 10_000

const NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9'

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

/** One shard of absolute URLs. */
function renderSitemap(urls: readonly string[]): string {
  return render(
    'urlset',
    urls.map((url) => `<url><loc>${toXmlText(url)}</loc></url>`),
  )
}

/** The index that names every shard. */
function renderSitemapIndex(urls: readonly string[]): string {
  return render(
    'sitemapindex',
    urls.map((url) => `<sitemap><loc>${toXmlText(url)}</loc></sitemap>`),
  )
}

function render(element: string, rows: readonly string[]): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n<${element} xmlns="${NAMESPACE}">\n${rows.join('\n')}\n</${element}>\n`
}
