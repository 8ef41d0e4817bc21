import { describe, expect, test } from 'vitest'
import { createFindOperations } from '../../functions/search/find-operations.ts'
import {
  countStated,
  fillArguments,
  slotOf,
  slotsIn,
} from '../../src/domain/arguments/fill-arguments.ts'
import { readQuestionFacts } from '../../src/domain/arguments/question-facts.ts'
import { IS_LONG } from '../support/long.ts'
import { readOperationIndex } from '../support/own-catalogue.ts'
import { countTasks, type JudgedTasks, judgeTasks, NOW, TASKS } from './judge-deeds.ts'

const factsOf = (question: string) => readQuestionFacts(question, NOW)

describe('a question says what a rule finds in it, and nothing else', () => {
  test.each([
    ['weather in Berlin tomorrow', { dates: ['2026-11-25'] }, ['Berlin']],
    ['temperature in new york city', {}, ['New York City']],
    ['route from Zurich to São Paulo', {}, ['Zürich', 'Sao Paulo']],
    ['convert 100 EUR to JPY', { currencies: ['EUR', 'JPY'], numbers: [100] }, []],
    ['how many dollars is 5 pounds', { currencies: ['USD', 'GBP'] }, []],
    ['price of ETH', { coins: ['ETH'] }, []],
    ['bitcoin in euros', { coins: ['BTC'], currencies: ['EUR'] }, []],
    [
      "translate 'good morning' to Japanese",
      { languages: { to: 'ja' }, quoted: 'good morning' },
      [],
    ],
    ['translate "cats" from English into German', { languages: { from: 'en', to: 'de' } }, []],
    ['read https://a.example/x?y=1.', { urls: ['https://a.example/x?y=1'], domains: [] }, []],
    ['mail ada@example.com', { emails: ['ada@example.com'], domains: [] }, []],
    ['whois of wikipedia.org', { domains: ['wikipedia.org'] }, []],
    ['where is 8.8.8.8', { ips: ['8.8.8.8'], domains: [] }, []],
    ['flights on 24 December 2026', { dates: ['2026-12-24'], numbers: [] }, []],
    ['quote for AAPL in USD', { tickers: ['AAPL'], currencies: ['USD'] }, []],
    ['try all the near options', { currencies: [], coins: [] }, []],
    ['search the web for heat pump subsidies', { subject: 'heat pump subsidies' }, []],
    ['search the web', { subject: null }, []],
    ['geocode an address', { subject: null }, []],
    ['coffee shops', { subject: null }, []],
    ['what is the capital', { places: [], countries: [] }, []],
  ])('%s', (question, facts, places) => {
    const found = factsOf(question)
    expect(found).toMatchObject(facts)
    expect(found.places.map(({ name }) => name)).toEqual(places)
  })
})

describe('an example is filled with what was asked, never with its own values', () => {
  const weather = (question: string) =>
    fillArguments(
      'https://api.sky.example/now/{lat}/{lon}',
      { url: 'https://api.sky.example/now/59.91/10.75?units=metric&city=Oslo' },
      [
        ...['lat', 'lon'].flatMap(
          (name) => slotOf('path', { name, example: 59.91, required: true }) ?? [],
        ),
        slotOf('query', { name: 'city', example: 'Oslo', required: false }) ?? [],
      ].flat(),
      factsOf(question),
    )
  test('a place becomes its coordinates', () => {
    expect(weather('weather in Nairobi')).toEqual({
      url: 'https://api.sky.example/now/-1.28/36.82?units=metric&city=Nairobi',
    })
  })
  test('without a place the placeholder stands, and what is not needed goes', () => {
    expect(weather('weather tomorrow')).toEqual({
      url: 'https://api.sky.example/now/<LAT>/<LON>?units=metric',
    })
  })
  test('a place that may be named in several ways, each optional, stays asked for', () => {
    const forecast = (question: string) => {
      const city = slotOf('query', { name: 'city', example: 'Oslo', required: false }) ?? []
      return fillArguments(
        'https://sky.example/forecast',
        { url: 'https://sky.example/forecast?city=Oslo&days=3' },
        [city].flat(),
        factsOf(question),
      ).url
    }
    expect(forecast('forecast for a city')).toBe('https://sky.example/forecast?city=<CITY>&days=3')
    expect(forecast('forecast for Nairobi')).toBe(
      'https://sky.example/forecast?city=Nairobi&days=3',
    )
  })
  test('a search box is given what a question marks or quotes, never the words of the task', () => {
    const slots = [slotOf('query', { name: 'q', example: 'x', required: true }) ?? []].flat()
    const url = 'https://search.example/web?q=x'
    const requested = (question: string) =>
      fillArguments(url, { url }, slots, factsOf(question)).url
    const story = 'My sister moves house in spring and somebody ought to know what ferries cost'
    expect(requested('search the web for ferries to Bergen')).toBe(
      'https://search.example/web?q=ferries%20to%20Bergen',
    )
    for (const question of ['search the web', 'ferries to Bergen', 'geocode an address', story])
      expect(requested(question)).toBe('https://search.example/web?q=<Q>')
    expect(requested(`${story}: "ferries to Bergen"`)).toContain('q=ferries')
  })
  test('no object is left empty: a call without arguments is shown without any', () => {
    const schema = { type: 'object', properties: { q: { type: 'string' } } }
    const fill = (example: object, question = 'anything') =>
      fillArguments(
        'https://m.example/',
        example,
        Object.entries(example).flatMap(([root, value]) =>
          slotsIn([root], value, root === 'arguments' ? schema : undefined, root !== 'body'),
        ),
        factsOf(question),
      )
    expect(fill({ arguments: { q: 'x' } })).toEqual({})
    expect(fill({ arguments: { q: 'x' } }, 'papers on rain')).toEqual({ arguments: { q: 'rain' } })
    const between = { address: '0x1', date: { from: '2026-01-01', to: '2026-02-01' } }
    expect(fill({ body: between }).body).toEqual({ date: { from: '<FROM>', to: '<TO>' } })
  })
  test('what the example leaves out is added, once, where the question says it', () => {
    const slots = ['id', 'symbol', 'slug'].flatMap(
      (name) => slotOf('query', { name, example: '', required: false }) ?? [],
    )
    const url = 'https://coins.example/quotes'
    expect(fillArguments(url, { url }, slots, factsOf('price of ETH'))).toEqual({
      url: `${url}?symbol=ETH`,
    })
    expect(fillArguments(url, { url }, slots, factsOf('prices'))).toEqual({ url })
  })
  test('who is written to does not send the mail', () => {
    const example = { body: { from: 'a@mail.example', to: ['b@mail.example'] } }
    const slots = slotsIn(['body'], example.body, undefined, true)
    const { body } = fillArguments(
      'https://m.example/',
      example,
      slots,
      factsOf('mail c@d.example'),
    )
    expect(body).toEqual({ from: '<FROM>', to: ['c@d.example'] })
  })
  test('nor does one whose address lies deeper', () => {
    const example = {
      body: { from: { email: 'a@mail.example' }, to: [{ email: 'b@mail.example' }] },
    }
    const slots = slotsIn(['body'], example.body, undefined, true)
    const facts = factsOf('mail c@d.example')
    expect(fillArguments('https://m.example/', example, slots, facts).body).toEqual({
      from: { email: '<EMAIL>' },
      to: [{ email: 'c@d.example' }],
    })
  })
  test.each([
    ['weather in Nairobi', 1],
    ['weather in Nairobi on 2026-12-24', 2],
    ['weather', 0],
  ])('%s: a call for a place and a day may say %i of it', (question, stated) => {
    const url = 'https://sky.example/at?city=Oslo&date=2026-01-01'
    const slots = ['city', 'date'].flatMap(
      (name) => slotOf('query', { name, example: '', required: false }) ?? [],
    )
    expect(countStated(url, { url }, slots, factsOf(question))).toBe(stated)
  })
  test('a placeholder of the example stays as its author wrote it', () => {
    const example = { body: { to: ['<PHONE_NUMBER>'] } }
    const slots = slotsIn(['body'], example.body, undefined, true)
    expect(fillArguments('https://m.example/', example, slots, factsOf('send an SMS'))).toEqual(
      example,
    )
  })
  test('lists, objects and settings of a body', () => {
    const example = {
      body: { model: 'm-1', messages: [{ role: 'user', content: 'Name a river.' }], limit: 5 },
    }
    const slots = slotsIn(['body'], example.body, undefined, true)
    expect(
      fillArguments('https://m.example/', example, slots, factsOf("say 'hello'")).body,
    ).toEqual({
      model: 'm-1',
      messages: [{ role: 'user', content: 'hello' }],
      limit: 5,
    })
  })
})

const find = createFindOperations({
  release: () => ({ operations: readOperationIndex() }),
  clock: { now: () => NOW },
})

function toFigures(rows: JudgedTasks): string {
  return `of ${rows.length}: right ${countTasks(rows, 'isRight')}, callable ${countTasks(rows, 'isCallable')}, filled ${countTasks(rows, 'isFilled')}`
}

test('forty-two tasks: the first row is right, is called as it stands, and holds what was asked', () => {
  const judged = judgeTasks(find)
  const isAside = ({ at }: JudgedTasks[number]) => at % 2 === 1
  console.log(`tuned on ${toFigures(judged.filter((each) => !isAside(each)))}`)
  console.log(`put aside ${toFigures(judged.filter(isAside))}`)
  if (process.env.SHOW_TASKS !== undefined)
    for (const { ask, isRight, isFilled, isCallable, row, shown } of judged)
      console.log(
        `${isRight ? 'R' : '-'}${isFilled ? 'F' : '-'}${isCallable ? 'C' : '-'} ${ask}\n      ${row}  ${shown.slice(0, 160)}`,
      )
  expect(countTasks(judged, 'isRight')).toBeGreaterThanOrEqual(36)
  expect(countTasks(judged, 'isFilled')).toBeGreaterThanOrEqual(30)
  expect(countTasks(judged, 'isCallable')).toBeGreaterThanOrEqual(30)
  for (const { shown, ask } of judged)
    if (!/oslo/i.test(ask)) expect(shown, ask).not.toMatch(/oslo|59\.91|10\.75/i)
})

/** The texts of a request that are values: of its query, and in its body or arguments. */
function valuesIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(valuesIn) : []
}

/** Sellers' own values may have words of a question: `gpt-image-1` has others beside them. */
function isOfQuestion(value: string, question: string): boolean {
  const stated = new Set(question.toLowerCase().match(/[\p{L}\p{N}]+/gu))
  const words = /^<[A-Z0-9_]+>$/.test(value) ? [] : value.toLowerCase().match(/[\p{L}\p{N}]+/gu)
  return words !== null && words.length > 0 && words.every((word) => stated.has(word))
}

test.each([
  ...TASKS.filter((_, place) => IS_LONG || place % 6 === 0),
  { ask: 'search the web', task: 'web|search' },
  { ask: 'geocode an address', task: 'geocode|address' },
  { ask: 'generate an image', task: 'generate|image' },
  { ask: 'translate text', task: 'translate|text' },
  { ask: 'weather', task: 'weather' },
])('$ask: no row sends the words of its task, nor an empty object', ({ ask, task }) => {
  const answer = find(`${new URLSearchParams({ q: ask, limit: '20' })}`)
  const rows = 'results' in answer ? answer.results : expect.fail('expected results')
  expect(rows.length).toBeGreaterThan(0)
  const names = new RegExp(`\\b(?:${task})\\b`, 'i')
  for (const { operation, listing } of rows) {
    const { url = '', body, arguments: given } = operation.example ?? {}
    const values = [...new URLSearchParams(url.split('?')[1] ?? '').values()]
    for (const value of [...values, ...valuesIn(body), ...valuesIn(given)])
      expect(isOfQuestion(value, ask) && names.test(value), `${listing.id}: ${value}`).toBe(false)
    expect(JSON.stringify(operation.example ?? null), listing.id).not.toContain('{}')
  }
})

test('three results are at most 1.5 KB in the median, and each says whose it is', () => {
  const answers = TASKS.map(({ ask }) => find(`${new URLSearchParams({ q: ask, limit: '3' })}`))
  const sizes = answers
    .map((answer) => Buffer.byteLength(JSON.stringify(answer)))
    .sort((a, b) => a - b)
  console.log(`bytes of three results: median ${sizes[sizes.length >> 1]}, most ${sizes.at(-1)}`)
  expect(sizes[sizes.length >> 1]).toBeLessThanOrEqual(1500)
  expect(sizes.at(-1)).toBeLessThanOrEqual(1800)
  for (const answer of answers)
    for (const { listing } of 'results' in answer ? answer.results : [])
      expect(listing).toMatchObject({ name: expect.any(String), page: `/listing/${listing.id}` })
})
