import type { CompareView } from './compare-view.ts'
import { KIND_ORDER } from './kind-texts.ts'
import { categoryPath, comparePath, kindPath, pagePath } from './links.ts'
import { FIXED_PAGES } from './page-templates.ts'
import { PROBLEM_CODES } from './problems.ts'
import type { CategoriesView } from './reference-views.ts'

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
