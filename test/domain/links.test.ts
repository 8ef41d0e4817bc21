import { expect, test } from 'vitest'
import {
  badgePath,
  callPath,
  categoryPath,
  comparePath,
  goPath,
  kindPath,
  kitPath,
  listingPath,
  pagePath,
} from '../../src/domain/wire/links.ts'
import { CLICK_SOURCES } from '../../src/domain/wire/vocabulary.ts'

const ID = 'mcp.io.github.owner_server'

test.each([
  [listingPath(ID), `/api/v1/listings/${ID}`],
  [kitPath(ID), `/api/v1/listings/${ID}/kit.json`],
  [pagePath(ID), `/listing/${ID}`],
  [badgePath(ID), `/badge/${ID}.svg`],
  [callPath(ID), `/api/v1/call/${ID}`],
  [goPath(ID, 'api'), `/go/${ID}?src=api`],
  [comparePath('weather-apis'), '/compare/weather-apis'],
  [kindPath('mcp_server'), '/kind/mcp_server'],
  [categoryPath('travel'), '/category/travel'],
])('%s', (path, expected) => {
  expect(path).toBe(expected)
})

test('a click-through link says which door it was printed on', () => {
  expect(CLICK_SOURCES.map((src) => goPath(ID, src).split('src=')[1])).toEqual([
    'web',
    'api',
    'mcp',
    'a2a',
  ])
})
