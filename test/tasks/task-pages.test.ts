import { expect, test } from 'vitest'
import { toCompareView } from '../../src/domain/compare/compare-view.ts'
import { catalogue } from '../support/own-catalogue.ts'
import { listings, tables } from './own-catalogue.ts'

const { sources, byId, ledger, baseUrl } = catalogue
const context = {
  ...{ baseUrl, site: tables.site, sources, listings: byId },
  ...{ tasks: [], demand: ledger.demand },
}

test('a section with a task has every listing that does it without an account', () => {
  const page = catalogue.pages.find(({ slug }) => slug === 'paid-web-search')
  if (page === undefined) throw new Error('expected the page paid-web-search')
  const { sections } = toCompareView(page.slug, page.facts, context)
  const [search] = sections
  const doing = listings.filter(
    ({ surface, facts }) =>
      surface.operations.some(({ task }) => task === 'web_search') &&
      ['none', 'payment'].includes(facts.auth.type),
  )
  expect(doing.length).toBeGreaterThan(5)
  expect(search?.rows.map(({ id }) => id).sort()).toEqual(doing.map(({ id }) => id).sort())
  const focus = new Map(search?.rows.map((row) => [row.id, row.focus]))
  expect(focus.get('x402.x402atlas-websearch')).toBe('dedicated')
  expect(focus.get('x402.stableenrich')).toBe('broad')
})

test('listed rows stand beside those of the task, each once', () => {
  const page = catalogue.pages.find(({ slug }) => slug === 'web-page-extraction')
  if (page === undefined) throw new Error('expected the page web-page-extraction')
  const rows = toCompareView(page.slug, page.facts, context).sections[1]?.rows ?? []
  expect(rows.map(({ id }) => id)).toContain('a2a.anybrowse')
  expect(rows.map(({ id }) => id)).toContain('x402.firecrawl-mpp')
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
})
