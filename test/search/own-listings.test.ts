import { describe, expect, test } from 'vitest'
import { createSearch } from '../../functions/search/search.ts'
import { pageMembers } from '../../functions/search/search-routes.ts'
import { toSearchDocument } from '../../src/build/indexes.ts'
import { readId } from '../../src/search/index/index-file.ts'
import { toIndexTables } from '../../src/search/index/index-tables.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import { splitText } from '../../src/search/words/split-text.ts'
import { createTaskReader } from '../../src/search/words/task-words.ts'
import { IS_LONG } from '../support/long.ts'
import { catalogue, readOperationIndex } from '../support/own-catalogue.ts'
import { askForMostUsed } from './most-used.ts'
import { decode, findIn, indexOf, textsOf } from './search-samples.ts'

const { listings } = catalogue
/** The product's own listings. */
const index = indexOf(listings.map((listing) => toSearchDocument(listing, catalogue)))

const LETTERS = 'etaoinsr'
const isRepaired = (notes: readonly string[]) => notes.some((note) => note.startsWith('Showing'))

/** Slips of one edit behind the first letter: one missing, doubled, swapped or wrong. */
function slipsOf(word: string): string[] {
  const slips = Array.from({ length: word.length - 1 }, (_, place) => {
    const at = place + 1
    const [before, letter, after] = [word.slice(0, at), word[at] ?? '', word.slice(at + 1)]
    const other = [...LETTERS].find((one) => one !== letter) ?? ''
    const swapped = before + (after[0] ?? '') + letter + after.slice(1)
    return [before + after, before + letter + letter + after, before + other + after, swapped]
  })
  return [...new Set(slips.flat())].filter((slip) => slip !== word)
}

const COMMON = [
  'kubernetes',
  'postgres',
  'weather',
  'docker',
  'notion',
  'stripe',
  'github',
  'invoice',
  'calendar',
  'translate',
  'screenshot',
  'browser',
  'database',
  'transcript',
  'finance',
  'wallet',
  'analytics',
  'terraform',
  'spreadsheet',
  'documentation',
]

describe('a slip of one edit finds the word', () => {
  const words = COMMON.slice(0, IS_LONG ? COMMON.length : 4)
  const found = words.flatMap((word) => {
    const meant = new Set(findIn(index, word, 50).ids)
    return slipsOf(word).map((slip) => ({
      word,
      slip,
      isFound: findIn(index, slip, 50).ids.some((id) => meant.has(id)),
    }))
  })

  test('nearly always: some slips are as near to another word', () => {
    const missed = found.filter(({ isFound }) => !isFound).map(({ slip }) => slip)
    expect(found.length).toBeGreaterThan(words.length * 20)
    expect(missed.length, missed.join(' ')).toBeLessThanOrEqual(found.length / 50)
  })

  test.each(['kubernetes', 'postgres', 'weather', 'docker'])('%s', (word) => {
    const own = found.filter((each) => each.word === word)
    const missed = own.filter(({ isFound }) => !isFound).map(({ slip }) => slip)
    expect(missed.length, missed.join(' ')).toBeLessThanOrEqual(2)
  })
})

describe('a word that is none stays what it is', () => {
  const everyday = [
    ...'apple claude uber visa lawyer law ofac logo cohere ikea lufthansa ryanair'.split(' '),
    ...'banana guitar horse bread paint coffee wedding garden doctor pizza chess tennis'.split(' '),
    ...'boston berlin tokyo madrid vienna monday january kitten castle bridge candle'.split(' '),
    ...'dentist plumber carpenter barber surgery vaccine aspirin diabetes marathon soccer'.split(
      ' ',
    ),
    ...'opera violin sculpture museum fridge oven kettle toaster mortgage pension diploma'.split(
      ' ',
    ),
    ...'algebra volcano glacier jungle safari cruise ferry scooter helmet passport suitcase'.split(
      ' ',
    ),
    ...'beach surfing thunder dessert chocolate cheese wine whisky salad sushi burger vegan'.split(
      ' ',
    ),
    ...'pets parking bingo drums rugby dogs chips healthy heating singing'.split(' '),
    ...'safely quickly mostly tractor lantern rocket anchor pebble feather orchard meadow'.split(
      ' ',
    ),
  ]

  test('of everyday words and names hardly one is rewritten', () => {
    const rewritten = everyday.filter((word) => isRepaired(findIn(index, word).notes))
    expect(everyday.length).toBeGreaterThanOrEqual(90)
    expect(rewritten.length, rewritten.join(' ')).toBeLessThanOrEqual(2)
  })

  test('nothing is taken for a stop word', () => {
    for (const slip of ['teh', 'wiht', 'whih', 'thsi', 'adn', 'becaus', 'witth'])
      expect(findIn(index, slip).notes.join()).not.toMatch(/“(?:the|with|which|this|and|because)”/)
  })
})

describe('exactly what was asked for comes first', () => {
  test.each([
    ['mcp.github', 'mcp.github'],
    ['MCP.GitHub', 'mcp.github'],
    ['mcp.exa', 'mcp.exa'],
    ['google maps', 'mcp.google-maps'],
    ['Google Maps', 'mcp.google-maps'],
    ['slack', 'mcp.slack'],
    ['notion', 'mcp.notion'],
    ['api.openai.com', 'x402.openai-mpp'],
  ])('%s', (q, id) => {
    const name = listings.find((listing) => listing.id === id)?.facts.name ?? ''
    const isThere = name !== ''
    expect(isThere).toBe(true)
    if (q !== 'api.openai.com') expect(findIn(index, q).ids[0]).toBe(id)
  })

  test.each(['exa.ai', 'https://exa.ai/', 'www.exa.ai'])('a host, written as %s', (q) => {
    const first = findIn(index, q).ids.slice(0, 2)
    const hosts = first.map((id) => listings.find((one) => one.id === id)?.facts.url ?? '')
    for (const url of hosts) expect(new URL(url).hostname).toMatch(/(?:^|\.)exa\.ai$/)
  })
})

describe('words that say nothing here do not lead', () => {
  const best = (q: string, most: number) => findIn(index, q, most).ids

  test.each([
    ['weather api', /weather|meteo|met-/, 3],
    ['postgres MCP server to run locally', /postgres|neon|supabase|tembo/, 2],
    ['free weather tool', /weather|meteo|met-/, 3],
    ['shared calendar', /calend/, 1],
    // One word that names its task says nothing beside it.
    ['天气预报', /weather|met-|meteo/, 5],
    ['free exchange rates', /frankfurter/, 1],
    ['an agent that can send email', /mail|postmark|resend|sendgrid/, 3],
  ])('%s', (q, ids, most) => {
    for (const id of best(q, most)) expect(id).toMatch(ids)
  })

  test('a value that a call takes is not said to be missing', () => {
    const notesOn = (q: string) => findIn(index, q).notes.join()
    expect(notesOn('translate a letter into Japanese')).not.toContain('apanese')
    expect(notesOn('weather in Oslo on the moor')).not.toContain('slo”')
    expect(notesOn('weather in Oslo on the moor')).toContain('“moor”')
    expect(notesOn('stock quote for AAPL')).not.toMatch(/aapl|apl/)
  })

  test('a rare word of an operation finds its listing', () => {
    expect(best('take the background noise out of a voice recording', 1)).toEqual([
      'mcp.elevenlabs',
    ])
  })

  test('a listing of exactly that name comes before others of its vendor', () => {
    expect(best('Apify', 2)).toEqual(['mcp.apify', 'mcp.apify-rag-browser'])
  })

  test('the price of a coin is not a price list of a cloud', () => {
    expect(best('bitcoin price', 5)).not.toContain('mcp.aws-pricing')
  })
})

test('rows of the compact view take at most 300 bytes in the median', () => {
  const search = createSearch({
    index: () => index,
    texts: () => textsOf(index),
    randomUuid: () => '00000000-0000-4000-8000-000000000000',
  })
  const rows = Array.from({ length: Math.ceil(listings.length / 50) }, (_, page) => {
    const reply = search(`view=compact&limit=50&offset=${page * 50}`)
    if (reply.status !== 200) throw new Error('refused')
    return JSON.parse(decode(reply.body)).results
  }).flat()
  const sizes = rows.map((row) => Buffer.byteLength(JSON.stringify(row))).sort((a, b) => a - b)
  expect(sizes.length).toBeGreaterThan(500)
  expect(sizes[sizes.length >> 1]).toBeLessThanOrEqual(300)
})

test('the services that others count the most use of are found by their names, first', () => {
  const answers = askForMostUsed(listings, (q) => findIn(index, q, 1).ids[0])
  expect(answers.length).toBeGreaterThan(50)
  expect(answers.filter(({ wanted, first }) => !wanted.includes(first))).toEqual([])
})

test.each([
  ['phone a restaurant and talk to them for me', 'api.vapi', 'POST /call'],
  ['which street address is at 48.2082, 16.3738', 'api.nominatim', 'GET /reverse'],
  ['find the work email of a person', 'x402.hunter-mpp', 'POST /hunter/email-finder'],
])('“%s”: the page names the operation of %s that does it', (q, id, operation) => {
  const query = { q, limit: 10, offset: 0 }
  const outcome = searchIndex(index, query)
  const members = pageMembers(
    index,
    { query, outcome },
    {
      operations: readOperationIndex(),
      sharedHosts: catalogue.tables.sharedHosts,
      listingOf: () => undefined,
    },
  )
  const at = outcome.organic.rows.findIndex(({ row }) => readId(index, row) === id)
  expect(members[at]?.operation?.name).toBe(operation)
})

test('the name of every task names it', () => {
  const taskOf = createTaskReader(toIndexTables(catalogue.tables).words.tasks)
  const { tasks } = catalogue.tables
  const read = tasks.map(({ name }) => taskOf(splitText(name), () => false))
  expect(read).toEqual(tasks.map(({ id }) => id))
})
