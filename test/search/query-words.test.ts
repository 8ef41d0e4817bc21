import { describe, expect, test } from 'vitest'
import { leaveOut, planQuery } from '../../src/search/query/plan-query.ts'
import { splitText } from '../../src/search/words/split-text.ts'
import { createWordSets, readWordSets } from '../../src/search/words/word-sets.ts'
import { findIn, indexOf, SEARCH_WORDS, sampleDocument } from './search-samples.ts'

/** Listings that say the same, so that a word is frequent. */
const times = (count: number, id: string, summary: string, name = id) =>
  Array.from({ length: count }, (_, at) =>
    sampleDocument({ id: `mcp.${id}-${at}`, name: `${name} ${at}`, summary }),
  )

const words = {
  ...SEARCH_WORDS,
  related: [
    { requested: ['timetable'], meant: ['schedule'] },
    { requested: ['visualization'], meant: ['chart'] },
    { requested: ['rain'], meant: ['weather', 'forecast'] },
    { requested: ['hail', 'rain'], meant: ['forecast'] },
    { requested: ['training'], meant: ['advice'] },
  ],
}
const index = indexOf(
  [
    ...times(40, 'train', 'Trains a model.'),
    ...times(30, 'tracks', 'Railway schedule with each departure.'),
    ...times(20, 'charts', 'Draws a chart.'),
    ...times(12, 'ledger', 'Reads a smart contract.'),
    ...times(30, 'meteo', 'Weather forecast.'),
    ...times(5, 'legal', 'Legal advice on a multi-party deal.'),
    ...times(40, 'audit', 'Audit of anything.'),
    ...times(3, 'gpt', 'Asks gpt.'),
  ],
  { words },
)

const glued = indexOf(
  [...times(3, 'andi', 'Andi sings.'), ...times(3, 'rail', 'A train departure.')],
  {
    words,
  },
)

const find = (q: string) => findIn(index, q)
const termsOf = (q: string) =>
  planQuery(index, q).terms.map(({ written, weight }) => `${written} ${weight}`)

test('a word with a number behind it that no listing has is the word', () => {
  expect(find('gpt4').ids).toHaveLength(3)
  expect(find('nothing4').ids).toEqual([])
})

describe('a word that listings use in the place of one asked for', () => {
  test('is searched for beside it, and counts less', () => {
    expect(termsOf('rain')).toEqual(['rain 1', 'weather 0.3', 'forecast 0.3'])
  })

  test('is named in a note where no listing has the word itself', () => {
    const { ids, notes } = find('visualization')
    expect(ids[0]).toBe('mcp.charts-0')
    expect(notes).toEqual(['No listing matches “visualization”; searched for “chart”.'])
  })

  test('is searched for once, however many rows of the table name it', () => {
    expect(termsOf('rains')).toEqual(['rains 1', 'weather 0.3', 'forecast 0.3'])
  })

  test('stands for the word it is asked as, and forms of it', () => {
    expect(termsOf('trainings')).toContain('advice 0.3')
  })

  test('counts as what it is where it is asked for itself', () => {
    expect(termsOf('rain weather')).toEqual(['rain 1', 'weather 1', 'forecast 0.3'])
  })
})

test('words of time and manner beside others count less, and alone as any other', () => {
  expect(termsOf('latest rain')).toEqual(expect.arrayContaining(['rain 1', 'latest 0.2']))
  expect(termsOf('latest')).toEqual(['latest 1'])
})

test('in a story no small word is glued to what stands before it', () => {
  const story = 'my sister and I would like to know when the next departure of a train is'
  expect(planQuery(glued, story).notes.join()).not.toContain('andi')
  expect(planQuery(glued, 'and i').notes.join()).toContain('andi')
  expect(planQuery(glued, 'a train and I').notes.join()).not.toContain('andi')
})

describe('words that are left out', () => {
  const sets = createWordSets(SEARCH_WORDS)
  const reported = (q: string) => leaveOut(splitText(q), { words: sets, noun: 'listing' })
  const kept = (q: string) => reported(q).kept.map(({ whole }) => whole)

  test.each([
    ['when does the next train leave', ['next', 'train', 'leave']],
    ['what we spend by month', ['spend', 'month']],
    ['business days between dates', ['business', 'days', 'dates']],
    ["why can't it reach the host", ['reach', 'host']],
    ['next js', ['next', 'js']],
    ['last', ['last']],
    ['what is it', ['what', 'is', 'it']],
    ['weather api', ['weather']],
    ['mcp server', ['mcp', 'server']],
    ['postgres MCP server to run locally', ['postgres', 'run']],
    ['free weather', ['weather']],
    ['free', ['free']],
    ['image tool without login', ['image']],
    ['weather no api key', ['weather']],
    ['login', ['login']],
  ])('%s', (q, words) => {
    expect(kept(q)).toEqual(words)
  })

  test.each([
    ['free weather', '“free”: max_price_usd=0'],
    ['weather that is not free', '“free”: max_price_usd=0'],
    ['cheap flights', '“cheap”: sort=price'],
    ['paid weather', '“paid”: paid_only=true'],
    ['x402 weather', '“x402”: rail=x402'],
    ['mpp weather', '“mpp”: rail=mpp'],
    ['local postgres', '“local”: runs=local'],
    ['remote postgres', '“remote”: runs=remote'],
    ['search without login', '“without login”: auth=no_account'],
    ['weather api', 'Left out “api”: too common to tell listings apart.'],
  ])('%s: the answer says so', (q, note) => {
    const { notes, phrases } = reported(q)
    const filters = phrases.map(
      ({ written, parameter, value }) => `“${written}”: ${parameter}=${value}`,
    )
    expect([...notes, ...filters]).toContain(note)
  })

  test('what is kept is not spoken of', () => {
    expect(reported('free').notes).toEqual([])
    expect(reported('the weather in Rome').notes).toEqual([])
  })
})

describe('a word that no listing has', () => {
  test('is named, whether or not there is another for it', () => {
    expect(find('audit xqzzzzw').notes).toEqual(['No listing matches “xqzzzzw”.'])
    expect(find('xqzzzzw vvkkkqqq').notes).toContain('No listing matches “xqzzzzw”, “vvkkkqqq”.')
  })

  test('is answered with the closest where nothing is found', () => {
    expect(find('chartzz')).toEqual({
      ids: [],
      notes: [
        'No listing matches “chartzz”.',
        'Nothing was found. The closest words that listings have: “chart”.',
      ],
    })
  })

  test('with a number behind it is found without: no silent zero', () => {
    for (const q of ['audit-4', 'audit4', 'Audit 4'])
      expect(find(q).ids.some((id) => id.startsWith('mcp.audit'))).toBe(true)
  })

  test('with a hyphen is one thing where listings write it as one word', () => {
    expect(termsOf('multi-party deal').slice(0, 4)).toEqual([
      'multi 1',
      'party 1',
      'deal 1',
      'multi party 0.5',
    ])
  })
})

test('the words of a table are read once by equal indexes, and anew for another', () => {
  const sets = readWordSets(JSON.stringify(SEARCH_WORDS))
  expect(readWordSets(JSON.stringify(SEARCH_WORDS))).toBe(sets)
  const other = readWordSets(JSON.stringify({ ...SEARCH_WORDS, stop: ['nothing'] }))
  expect(other).not.toBe(sets)
  expect([...other.stop]).toEqual(['nothing'])
})
