import { describe, expect, test } from 'vitest'
import { createFindOperations } from '../../functions/search/find-operations.ts'
import { slotOf, slotsIn } from '../../src/domain/arguments/argument-slots.ts'
import { countSaid, fillArguments } from '../../src/domain/arguments/fill-arguments.ts'
import { readQuestionFacts } from '../../src/domain/arguments/question-facts.ts'
import { readOperationIndex } from '../support/own-catalogue.ts'
import { countDeeds, type JudgedDeeds, judgeDeeds, NOW } from './judge-deeds.ts'

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
    ['search the web for heat pump subsidies', { topic: 'heat pump subsidies' }, []],
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
  test('a search box is given a question, and of a story only what it quotes', () => {
    const slots = [slotOf('query', { name: 'q', example: 'x', required: true }) ?? []].flat()
    const url = 'https://search.example/web?q=x'
    const asked = (question: string) => fillArguments(url, { url }, slots, factsOf(question)).url
    const story =
      'My sister moves house in spring and somebody ought to know what ferries cost by then'
    expect(asked('ferries to Bergen')).toContain('q=ferries')
    expect(asked(story)).toContain('q=<Q>')
    expect(asked(`${story}: "ferries to Bergen"`)).toContain('q=ferries')
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
  test.each([
    ['weather in Nairobi', 1],
    ['weather in Nairobi on 2026-12-24', 2],
    ['weather', 0],
  ])('%s: a call for a place and a day may say %i of it', (question, said) => {
    const url = 'https://sky.example/at?city=Oslo&date=2026-01-01'
    const slots = ['city', 'date'].flatMap(
      (name) => slotOf('query', { name, example: '', required: false }) ?? [],
    )
    expect(countSaid(url, { url }, slots, factsOf(question))).toBe(said)
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

function toFigures(rows: JudgedDeeds): string {
  return `of ${rows.length}: right ${countDeeds(rows, 'isRight')}, callable ${countDeeds(rows, 'isCallable')}, filled ${countDeeds(rows, 'isFilled')}`
}

test('forty-two deeds: the first row is right, is called as it stands, and holds what was asked', () => {
  const judged = judgeDeeds(find)
  const isAside = ({ at }: JudgedDeeds[number]) => at % 2 === 1
  console.log(`tuned on ${toFigures(judged.filter((each) => !isAside(each)))}`)
  console.log(`put aside ${toFigures(judged.filter(isAside))}`)
  if (process.env.SHOW_DEEDS !== undefined)
    for (const { ask, isRight, isFilled, isCallable, row, shown } of judged)
      console.log(
        `${isRight ? 'R' : '-'}${isFilled ? 'F' : '-'}${isCallable ? 'C' : '-'} ${ask}\n      ${row}  ${shown.slice(0, 160)}`,
      )
  expect(countDeeds(judged, 'isRight')).toBeGreaterThanOrEqual(36)
  expect(countDeeds(judged, 'isFilled')).toBeGreaterThanOrEqual(30)
  expect(countDeeds(judged, 'isCallable')).toBeGreaterThanOrEqual(30)
  for (const { shown, ask } of judged)
    if (!/oslo/i.test(ask)) expect(shown, ask).not.toMatch(/oslo|59\.91|10\.75/i)
})
