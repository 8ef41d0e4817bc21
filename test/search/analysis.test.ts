import { expect, test } from 'vitest'
import { splitText, stemWord } from '../../src/search/words/split-text.ts'
import { IS_LONG } from '../support/long.ts'
import { findIn, indexOf, sampleDocument } from './search-samples.ts'

/** A word must stand in a few listings before a slip is taken for it. */
const many = (id: string, name: string) =>
  Array.from({ length: 5 }, (_, at) => sampleDocument({ id: `${id}-${at}`, name }))

const index = indexOf([
  sampleDocument({ id: 'mcp.sheets', name: 'Google Sheets', summary: 'Edit spreadsheets.' }),
  sampleDocument({ id: 'mcp.sheets-2', name: 'Tables for Google Sheets' }),
  sampleDocument({ id: 'mcp.chat', name: 'WhatsApp bridge', summary: 'Send messages.' }),
  sampleDocument({ id: 'mcp.chat-2', name: 'WhatsApp' }),
  sampleDocument({ id: 'x402.voice', name: 'Voicemaker', summary: 'Natural text-to-speech.' }),
  sampleDocument({ id: 'x402.ears', name: 'Earlistener', summary: 'Accurate speech-to-text.' }),
  sampleDocument({ id: 'x402.postbox', name: 'Postbox', summary: 'Sends an e-mail for you.' }),
  sampleDocument({ id: 'x402.bills', name: 'Bills', summary: 'Invoicing for small shops.' }),
  sampleDocument({ id: 'x402.excel', name: 'Excel reader', summary: 'Opens workbooks.' }),
  sampleDocument({ id: 'x402.great', name: 'Fine quotes', summary: 'Excellent sayings.' }),
  sampleDocument({ id: 'api.foo', name: 'Foo', url: 'https://api.foocorp.example/v1' }),
  sampleDocument({ id: 'mcp.weather-cn', name: '天気予報', summary: '明日の天気を調べる。' }),
  sampleDocument({ id: 'mcp.korean', name: '날씨 정보' }),
  sampleDocument({ id: 'mcp.cafe', name: 'Café Münster' }),
  sampleDocument({ id: 'mcp.who', name: 'The Who' }),
  sampleDocument({ id: 'mcp.db-1', name: 'InfluxDB', summary: 'A time-series database.' }),
  sampleDocument({ id: 'mcp.db-2', name: 'Metrics', summary: 'Stores time series.' }),
  sampleDocument({ id: 'mcp.cpp', name: 'Runner for C++' }),
  sampleDocument({ id: 'mcp.flags', name: 'ConfigCat', summary: 'Flags of ConfigCat.' }),
  sampleDocument({ id: 'mcp.maps', name: 'OpenTiles', summary: 'Tiles of a map.' }),
  sampleDocument({ id: 'mcp.repo', name: 'io.github.somebody/kanban-board' }),
  ...many('mcp.notion', 'Notion'),
  ...many('mcp.playwright', 'Playwright'),
  ...many('mcp.discord', 'Discord'),
])

const find = (q: string) => findIn(index, q, 50)

test.each([
  ['CamelCase finds the two words', 'GoogleSheets', 'mcp.sheets'],
  ['the two words find CamelCase', 'whats app', 'mcp.chat-2'],
  ['hyphens are no obstacle', 'google-sheets', 'mcp.sheets'],
  ['a compound finds its parts side by side', 'timeseries metrics', 'mcp.db-2'],
  ['text to speech is not speech to text', 'text to speech', 'x402.voice'],
  ['speech to text is not text to speech', 'speech to text', 'x402.ears'],
  ['email finds e-mail', 'email', 'x402.postbox'],
  ['e-mail finds itself', 'e-mail', 'x402.postbox'],
  ['invoices find invoicing', 'invoices', 'x402.bills'],
  ['a plural finds the singular', 'spreadsheet', 'mcp.sheets'],
  ['a whole id', 'x402.bills', 'x402.bills'],
  ['an id with hyphens', 'mcp.weather-cn', 'mcp.weather-cn'],
  ['a host', 'api.foocorp.example', 'api.foo'],
  ['a domain', 'foocorp.example', 'api.foo'],
  ['Japanese, a word inside a run', '天気', 'mcp.weather-cn'],
  ['a single CJK character', '予', 'mcp.weather-cn'],
  ['Korean', '날씨', 'mcp.korean'],
  ['accents left out', 'cafe munster', 'mcp.cafe'],
  ['accents typed', 'MÜNSTER', 'mcp.cafe'],
  ['full-width letters', 'ｅｘｃｅｌ', 'x402.excel'],
  ['nothing but stop words', 'the who', 'mcp.who'],
  ['signs that are part of a name', 'C++', 'mcp.cpp'],
  ['a common word inside a name, which the listing says too', 'tiles', 'mcp.maps'],
  ['two words of a name, written as one', 'kanbanboard', 'mcp.repo'],
  ['the start of the last word', 'google shee', 'mcp.sheets'],
  ['a name behind a namespace', 'kanban board', 'mcp.repo'],
  ['the start of a word that is not the last', 'spreadsh of everything', 'mcp.sheets'],
  ['a slip in a word that only stands in the plural', 'sprradsheet', 'mcp.sheets'],
])('%s', (_name, q, id) => {
  expect(find(q).ids[0]).toBe(id)
})

test.each([
  ['excel', 'x402.great', 'a stem does not reach another word'],
  ['github', 'mcp.repo', 'a namespace is not a name'],
  ['cat', 'mcp.flags', 'a common word inside a name is no word of its own'],
])('%s does not find %s: %s', (q, id) => {
  expect(find(q).ids).not.toContain(id)
})

test.each([
  ['letters swapped', 'notoin', 'notion'],
  ['a letter missing', 'noton', 'notion'],
  ['a letter too many', 'nottion', 'notion'],
  ['a wrong letter', 'notian', 'notion'],
  ['letters swapped further on', 'discrod', 'discord'],
])('a slip is found and said: %s', (_name, q, meant) => {
  const { ids, notes } = find(q)
  expect(ids[0]).toBe(`mcp.${meant}-0`)
  expect(notes).toEqual([`Showing results for “${meant}”.`])
})

test('in a small index a word of a single listing may be meant', () => {
  expect(find('voicemkaer')).toEqual({
    ids: ['x402.voice'],
    notes: ['Showing results for “voicemaker”.'],
  })
})

test('a word that is known is not taken for a slip', () => {
  expect(find('voicemaker').notes).toEqual([])
})

test.each([
  ['punctuation', '!!! ??? ***', 'The query has no word to search for.'],
  ['unknown words', 'xqzzzzw vvkkkqqq', 'No listing matches “xqzzzzw”, “vvkkkqqq”.'],
])('a query of %s finds nothing and says why', (_name, q, note) => {
  expect(find(q)).toEqual({ ids: [], notes: [note] })
})

/** Beyond the alphabets each block of `npm test` stands for sixteen that are like it. */
const stepFrom = (block: number) => (IS_LONG || block < 0x3400 ? 0x100 : 0x1000)
test('no character makes a word that is empty or has a space', () => {
  const odd: string[] = []
  for (let block = 0; block <= 0x10ffff; block += stepFrom(block)) {
    const points = Array.from({ length: 0x100 }, (_, at) => String.fromCodePoint(block + at))
    const characters = points.filter((character) => /[\p{L}\p{N}\p{M}]/u.test(character))
    const text = characters.map((one) => `${one} ${one}-a ${one}.${one}`).join(' ')
    const texts = splitText(text).flatMap(({ whole, parts }) => [whole, ...parts])
    odd.push(...texts.filter((word) => word === '' || word.includes(' ')))
  }
  expect(odd).toEqual([])
})

test.each([
  ['invoices', 'invoicing'],
  ['summarise', 'summarization'],
  ['translator', 'translating'],
  ['verified', 'verification'],
  ['scraper', 'scraping'],
  ['databases', 'database'],
  ['companies', 'company'],
  ['planning', 'plans'],
])('%s and %s share a stem', (left, right) => {
  expect(stemWord(left)).toBe(stemWord(right))
})

test.each([
  ['excel', 'excellent'],
  ['news', 'new'],
  ['server', 'serve'],
  ['docker', 'dock'],
  ['string', 'str'],
])('%s and %s stay apart', (left, right) => {
  expect(stemWord(left)).not.toBe(stemWord(right))
})

test.each([
  ["I'd like", ['i', 'like']],
  ["she'll call", ['she', 'call']],
  ["don't", ['dont']],
  ["d'un médicament", ['un', 'medicament']],
  ['l’actualité', ['actualite']],
])('%s: what is written together by an apostrophe', (text, words) => {
  expect(splitText(text).flatMap(({ whole, parts }) => [whole, ...parts])).toEqual(words)
})
