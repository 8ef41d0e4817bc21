import type { Compiled } from '../../compiled.ts'
import { isSwitchedOff } from '../../domain/derived/tables.ts'
import { FIXED_PAGES } from '../../domain/views/reference-views.ts'
import { toXmlText } from '../../domain/wire/escape.ts'
import { categoryPath, comparePath, kindPath, pagePath } from '../../domain/wire/links.ts'
import { PROBLEM_CODES } from '../../domain/wire/problems.ts'
import { KIND_ORDER } from '../rows/kind-texts.ts'

/** URLs in one sitemap; the protocol allows 50,000. */
const URLS_PER_SITEMAP = 10_000

const NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9'

type Catalogue = Pick<Compiled, 'site' | 'listings'>

interface SitePage {
  path: string
  /** The day on which the page's content changed; absent if that is not recorded. */
  changed?: string
}

/** The sitemap index over every path, and its shards, which are served from `/sitemap/1.xml` on. */
export function renderSiteSitemaps(compiled: Catalogue) {
  const { base_url } = compiled.site
  const pages = toSitePages(compiled)
  const shards = Array.from({ length: Math.ceil(pages.length / URLS_PER_SITEMAP) }, (_, index) =>
    pages.slice(index * URLS_PER_SITEMAP, (index + 1) * URLS_PER_SITEMAP),
  )
  const addresses = shards.map((_, index) => ({ path: `/sitemap/${index + 1}.xml` }))
  return {
    index: render('sitemapindex', 'sitemap', addresses, base_url),
    shards: shards.map((shard) => render('urlset', 'url', shard, base_url)),
  }
}

/** Every page offered to search engines; thin pages are left out. */
function toSitePages({ site, listings }: Catalogue): SitePage[] {
  const paths = [
    ...FIXED_PAGES.filter((path) => !isSwitchedOff(path, site.texts.switches)),
    ...KIND_ORDER.map(kindPath),
    ...site.categories.categories.map(({ id }) => categoryPath(id)),
    ...site.compare.filter(({ indexable }) => indexable).map(({ slug }) => comparePath(slug)),
    ...site.task_pages.filter(({ sellers }) => sellers > 0).map(({ page }) => page),
    ...PROBLEM_CODES.map((code) => `/problems/${code}`),
  ]
  return [
    ...paths.map((path) => ({ path })),
    ...listings.map(({ id, changed }) => ({ path: pagePath(id), changed })),
  ]
}

function render(element: string, row: string, pages: readonly SitePage[], base: string): string {
  const rows = pages.map(({ path, changed }) => {
    const lastmod = changed === undefined ? '' : `<lastmod>${changed}</lastmod>`
    return `<${row}><loc>${toXmlText(base + path)}</loc>${lastmod}</${row}>`
  })
  return `<?xml version="1.0" encoding="utf-8"?>\n<${element} xmlns="${NAMESPACE}">\n${rows.join('\n')}\n</${element}>\n`
}
