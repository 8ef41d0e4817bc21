import { expect, test } from 'vitest'
import type { TaskView } from '../../src/domain/plans/task-offers.ts'
import { toIndexTables } from '../../src/search/index/index-tables.ts'
import { splitText } from '../../src/search/words/split-text.ts'
import { createWordSets } from '../../src/search/words/word-sets.ts'
import { IS_LONG, longTest } from '../support/long.ts'
import { readRealPages } from './real-pages.ts'

/** The home page of the content that is published, and the pages it leads to. */
const pages = readRealPages()
const read = (path: string) => pages.readAsset(`${path.replace(/#.*/, '').slice(1)}/index.html`)
const home = pages.readAsset('index.html').toString()
const textOf = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

/** Of a task's page the first seller, with its price, as text. */
function readFirstRow(task: string) {
  const [row = ''] = /<li class="item offer".*?<\/li>/s.exec(read(task).toString()) ?? []
  const [, page = ''] = /<a href="([^"]+)"/.exec(row) ?? []
  return { page, text: textOf(row) }
}

longTest('a card names the seller that stands first on its task’s page, at that price', () => {
  const cards = home.match(/<li class="panel"[^>]*>\s*<h3.*?<\/li>/gs) ?? []
  expect(cards.length).toBe(3)
  for (const card of cards) {
    const [, task = ''] = /<h3[^>]*><a href="([^"]+)"/.exec(card) ?? []
    const [line = ''] = /<dt[^>]*>(?:Free|Cheapest).*?<\/div>/s.exec(card) ?? []
    const [, page = '', name = ''] = /<a href="([^"]+)"[^>]*><bdi[^>]*>([^<]+)/.exec(line) ?? []
    const price = /\$[\d.]+/.exec(textOf(line))?.[0] ?? 'free'
    const first = readFirstRow(task)
    expect(first).toMatchObject({ page })
    expect(first.text).toContain(name)
    expect(first.text).toContain(price)
    // A listing's page has other words for what costs nothing.
    const shown = textOf(read(page).toString())
    if (price === 'free') expect(shown).toMatch(/\bfree\b|no account, no key/i)
    else expect(shown).toContain(price)
  }
})

longTest(
  'a price beside a task’s name is the one of its first row; “Try” leads to somebody who does it',
  () => {
    const flow = [
      ...home.matchAll(
        /<a href="(\/tasks\/[^"]+)"[^>]*>[^<]+<\/a>\s*<span class="soft"[^>]*>([^<]+)/g,
      ),
    ]
    expect(flow.length).toBeGreaterThan(5)
    for (const [, task = '', from = ''] of flow)
      expect(readFirstRow(task).text).toContain(from.replace('from ', ''))
    const [hints = ''] = /<p class="row small[^"]*"[^>]*>.*?<\/p>/s.exec(home) ?? []
    const tried = [...hints.matchAll(/href="([^"]+)"/g)]
    expect(tried.length).toBe(4)
    for (const [, task = ''] of tried) expect(readFirstRow(task).page).toMatch(/^\/listing\//)
  },
)

test('every price of a task’s page stands on the page of its listing', () => {
  const wrong: string[] = []
  let prices = 0
  for (const [, task = ''] of read('/tasks')
    .toString()
    .matchAll(/href="(\/tasks\/[^"]+)"/g))
    for (const row of read(task)
      .toString()
      .match(/<li class="item offer".*?class="facts"/gs) ?? []) {
      const [, page = ''] = /<a href="([^"]+)"/.exec(row) ?? []
      const price = /\$[\d.]+/.exec(textOf(row))?.[0]
      if (price === undefined) continue
      prices += 1
      if (!textOf(read(page).toString()).includes(price)) wrong.push(`${task} ${page} ${price}`)
    }
  expect(wrong).toEqual([])
  expect(prices).toBeGreaterThan(IS_LONG ? 100 : 0)
})

longTest(
  'what a search suggests for the words of a task is its page, whose first row has the price',
  async () => {
    const { catalogue } = await import('../support/own-catalogue.ts')
    const { tasks }: { tasks: TaskView[] } = JSON.parse(
      pages.readAsset('api/v1/tasks/index.json').toString(),
    )
    const suggested = tasks.filter(({ sellers }) => sellers > 0)
    expect(suggested.length).toBeGreaterThan(150)
    const { taskOf } = createWordSets(toIndexTables(catalogue.tables).words)
    for (const { id, words, page, min_usd } of suggested) {
      const [example = ''] = words
      expect(taskOf(splitText(example.replace(/\|\S+/g, ''))), example).toBe(id)
      const { text } = readFirstRow(page)
      if (min_usd !== null && min_usd > 0) expect(text, page).toContain(`$${min_usd}`)
      if (min_usd === 0) expect(text, page).toMatch(/\bfree\b/i)
    }
  },
)
