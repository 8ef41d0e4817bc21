import { describe, expect, test } from 'vitest'
import { buildSearchIndex } from '../../src/search/build-search-index.ts'
import { readId } from '../../src/search/index-rows.ts'
import { loadSearchIndex } from '../../src/search/load-search-index.ts'
import { planQuery } from '../../src/search/plan-query.ts'
import { COMPUTING_ROWS } from '../../src/search/related-computing.ts'
import { LIFE_ROWS } from '../../src/search/related-life.ts'
import { MEDIA_ROWS } from '../../src/search/related-media.ts'
import { MONEY_ROWS } from '../../src/search/related-money.ts'
import { relatedTerms } from '../../src/search/related-words.ts'
import { WORK_ROWS } from '../../src/search/related-work.ts'
import { searchIndex } from '../../src/search/search-index.ts'
import { splitText } from '../../src/search/split-text.ts'
import { STOP_WORDS } from '../../src/search/stop-words.ts'
import { tellingWords } from '../../src/search/telling-words.ts'
import { sampleDocument } from './search-samples.ts'

/** Listings that say the same, so that a word is frequent. */
const times = (count: number, id: string, summary: string, name = id) =>
  Array.from({ length: count }, (_, at) =>
    sampleDocument({ id: `mcp.${id}-${at}`, name: `${name}`, summary }),
  )

const index = loadSearchIndex(
  buildSearchIndex([
    ...times(40, 'train', 'Trains a model.', 'train'),
    ...times(30, 'rail', 'Railway schedule with each departure.', 'tracks'),
    ...times(30, 'telegram', 'Sends a message.', 'telegram'),
    ...times(1, 'group', 'A bot.', 'telegrammatic'),
    ...times(20, 'maps', 'Draws a knowledge graph.', 'maps'),
    ...times(20, 'chart', 'Draws a chart.', 'chart'),
    ...times(4, 'legal', 'Legal advice, multiparty too, on a multi-party deal.', 'legal'),
    ...times(12, 'contract', 'Reads a smart contract.', 'ledger'),
    ...times(3, 'review', 'Audit of a smart contract.', 'review'),
    ...times(40, 'audit', 'Of anything.', 'audit'),
    ...times(40, 'frida', 'Hooks.', 'frida'),
  ]),
)

function find(q: string) {
  const { organic, notes } = searchIndex(index, { q, limit: 20, offset: 0 })
  return { ids: organic.rows.map(({ row }) => readId(index, 'organic', row)), notes }
}

const plan = (q: string) => planQuery(index.organic, q, index.organic.rows)
const relatedOf = (q: string) =>
  plan(q).things.map(({ related }) => related.map(({ text }) => text))

describe('a word that listings use in the place of one asked for', () => {
  test('brings the listing that holds the other thing too to the top', () => {
    expect(find('train timetable').ids[0]).toBe('mcp.rail-0')
  })

  test('is named in a note where no listing has the word itself', () => {
    expect(find('visualization').ids[0]).toBe('mcp.chart-0')
    expect(find('visualization').notes).toEqual([
      'No listing has “visualization”; searched for “chart”.',
    ])
  })

  test('is none that is asked for itself', () => {
    expect(relatedOf('train railway')).toEqual([[], []])
  })

  test('is left out for the parts of a word that was taken apart', () => {
    expect(relatedOf('contract lawyer')[0]).not.toEqual([])
    expect(relatedOf('smartcontract lawyer').slice(0, -1).flat()).toEqual([])
  })

  test('is left out where the word is known with its neighbour', () => {
    expect(relatedOf('graph viewer')[0]).toContain('chart')
    expect(relatedOf('knowledge graph viewer').flat()).not.toContain('chart')
  })
})

describe('the vocabulary of related words', () => {
  const rows = [...LIFE_ROWS, ...MONEY_ROWS, ...MEDIA_ROWS, ...WORK_ROWS, ...COMPUTING_ROWS]

  test('every row reads `asked > meant`, in plain words that no query drops', () => {
    const words = /^[a-z0-9]+(?: [a-z0-9]+)* > [a-z0-9]+(?: [a-z0-9]+){0,3}$/
    expect(rows.filter((row) => !words.test(row))).toEqual([])
    const dropped = rows
      .flatMap((row) => row.split(/ (?:> )?/))
      .filter((word) => STOP_WORDS.has(word))
    expect(dropped).toEqual([])
  })

  test('no row comes twice, and no word is related to itself', () => {
    expect(new Set(rows).size).toBe(rows.length)
    for (const row of rows)
      for (const word of row.split(' > ')[0]?.split(' ') ?? [])
        expect(relatedTerms(word)).not.toContain(word)
  })
})

describe('words of time and manner', () => {
  const told = (q: string) => tellingWords(splitText(q)).map(({ whole }) => whole)

  test.each([
    ['when does the next train leave', ['train', 'leave']],
    ['what did we spend on groceries last month', ['spend', 'groceries']],
    ['what we spend by month', ['spend', 'month']],
    ['a flight for next weekend', ['flight']],
    ['business days between dates', ['business', 'days', 'dates']],
    ["why can't it reach the server", ['reach', 'server']],
    ['next js', ['next', 'js']],
    ['last', ['last']],
    ['what is it', ['what', 'is', 'it']],
  ])('%s', (q, words) => {
    expect(told(q)).toEqual(words)
  })
})

describe('a word that no listing has', () => {
  test('is a slip rather than the start of a rare word', () => {
    const { ids, notes } = find('telegramm')
    expect(notes).toEqual(['Showing results for “telegram”.'])
    expect(ids).toContain('mcp.telegram-0')
  })

  test('is two words that listings have side by side, which count as one thing', () => {
    expect(find('smartcontract audit').ids.slice(0, 3).toSorted()).toEqual([
      'mcp.review-0',
      'mcp.review-1',
      'mcp.review-2',
    ])
  })

  test('may be a slip of a rare name when it is looked up, but not in a sentence', () => {
    const large = loadSearchIndex(
      buildSearchIndex([...times(4000, 'cook', 'Recipes.'), ...times(2, 'zephyra', 'Hooks.')]),
    )
    const notesOf = (q: string) => searchIndex(large, { q, limit: 1, offset: 0 }).notes
    expect(notesOf('zephyrs')).toEqual(['Showing results for “zephyra”.'])
    expect(notesOf('what can we cook with zephyrs')).toEqual([])
  })

  test('with a hyphen is one thing where listings write it as one word', () => {
    expect(
      plan('multi-party deal').things.map(({ words }) => words.map(({ text }) => text)),
    ).toEqual([['multiparti', 'multi', 'parti'], ['deal']])
  })

  test('keeps its first letter in a sentence, where it may be an everyday word', () => {
    expect(find('rudit').notes).toEqual(['Showing results for “audit”.'])
    expect(find('what was left in the rudit').notes).toEqual([
      'No listing has a word of the query.',
    ])
  })
})
