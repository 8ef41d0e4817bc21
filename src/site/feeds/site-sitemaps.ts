import type { CompareView } from '../../domain/compare/compare-view.ts'
import { FIXED_PAGES } from '../../domain/listing/page-templates.ts'
import type { CategoriesView } from '../../domain/views/reference-views.ts'
import { categoryPath, comparePath, kindPath, pagePath } from '../../domain/wire/links.ts'
import { PROBLEM_CODES } from '../../domain/wire/problems.ts'
import { toXmlText } from '../frame/html.ts'
import { KIND_ORDER } from '../rows/kind-texts.ts'

/** URLs in one sitemap; the protocol allows 50,000. */
const URLS_PER_SITEMAP = 10_000

const NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9'

interface Catalogue {
  site: {
    categories: CategoriesView
    compare: readonly Pick<CompareView, 'slug' | 'indexable'>[]
  }
  listings: readonly { view: { id: string } }[]
}

/** Canonical paths of every page that search engines are offered; thin pages are left out. */
export function toSitePaths({ site, listings }: Catalogue): string[] {
  return [
    ...FIXED_PAGES,
    ...KIND_ORDER.map(kindPath),
    ...site.categories.categories.map(({ id }) => categoryPath(id)),
    ...site.compare.filter(({ indexable }) => indexable).map(({ slug }) => comparePath(slug)),
    ...PROBLEM_CODES.map((code) => `/problems/${code}`),
    ...listings.map(({ view }) => pagePath(view.id)),
  ]
}

/** The sitemap index over every path, and its shards, which are served at `/sitemap/1.xml` and on. */
export function renderSiteSitemaps(baseUrl: string, paths: readonly string[]) {
  const urls = paths.map((path) => `${baseUrl}${path}`)
  const shards = Array.from({ length: Math.ceil(urls.length / URLS_PER_SITEMAP) }, (_, index) =>
    urls.slice(index * URLS_PER_SITEMAP, (index + 1) * URLS_PER_SITEMAP),
  )
  const addresses = shards.map((_, index) => `${baseUrl}/sitemap/${index + 1}.xml`)
  return {
    index: render('sitemapindex', 'sitemap', addresses),
    shards: shards.map((shard) => render('urlset', 'url', shard)),
  }
}

function render(element: string, row: string, urls: readonly string[]): string {
  const rows = urls.map((url) => `<${row}><loc>${toXmlText(url)}</loc></${row}>`)
  return `<?xml version="1.0" encoding="utf-8"?>\n<${element} xmlns="${NAMESPACE}">\n${rows.join('\n')}\n</${element}>\n`
}
