import { DOCS_GROUPS, docsPath } from '../wire/docs-groups.ts'
import {
  badgeDataPath,
  badgePath,
  categoryPath,
  comparePath,
  kindPath,
  pagePath,
  taskPath,
} from '../wire/links.ts'

/** Pages with an address of their own that are offered to search engines. */
export const FIXED_PAGES = [
  '/',
  '/badges',
  '/business-model',
  '/compare',
  '/docs',
  ...DOCS_GROUPS.map(({ slug }) => docsPath(slug)),
  '/keys',
  '/market',
  '/not-listed',
  '/privacy',
  '/problems',
  '/roadmap',
  '/sellers',
  '/sources',
  '/stats',
  '/tasks',
  '/trust',
] as const

/** All valid `GET` paths outside the interface, with `*` for an id. */
export const PAGE_TEMPLATES: readonly string[] = [
  ...FIXED_PAGES,
  '/report',
  '/search',
  '/sellers/check',
  '/sellers/dashboard',
  '/sellers/sign-in',
  '/openapi.json',
  '/openapi.yaml',
  '/feed.atom',
  '/feed.json',
  '/opensearch.xml',
  '/robots.txt',
  '/sitemap.xml',
  ...[pagePath, badgePath, badgeDataPath, comparePath, kindPath, categoryPath, taskPath].map(
    (toPath) => toPath('*'),
  ),
  '/problems/*',
]
