import { toXmlText } from '../frame/xml-text.ts'

/** URLs in one sitemap; the protocol allows 50,000. */
export const URLS_PER_SITEMAP = 10_000

const NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9'

/** One shard of absolute URLs. */
export function renderSitemap(urls: readonly string[]): string {
  return render(
    'urlset',
    urls.map((url) => `<url><loc>${toXmlText(url)}</loc></url>`),
  )
}

/** The index that names every shard. */
export function renderSitemapIndex(urls: readonly string[]): string {
  return render(
    'sitemapindex',
    urls.map((url) => `<sitemap><loc>${toXmlText(url)}</loc></sitemap>`),
  )
}

function render(element: string, rows: readonly string[]): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n<${element} xmlns="${NAMESPACE}">\n${rows.join('\n')}\n</${element}>\n`
}
