import type { CompareView } from '../../domain/compare/compare-view.ts'
import { FIXED_PAGES } from '../../domain/listing/page-templates.ts'
import type { CategoriesView } from '../../domain/views/reference-views.ts'
import { categoryPath, comparePath, kindPath, pagePath } from '../../domain/wire/links.ts'
import { PROBLEM_CODES } from '../../domain/wire/problems.ts'
import { KIND_ORDER } from '../rows/kind-texts.ts'

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
