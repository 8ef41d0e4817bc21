import { expect, test } from 'vitest'
import { createRecentAnswers } from '../../functions/receipts/recent-answers.ts'
import { findCanned } from '../../src/domain/receipts/canned-answer.ts'

const weather = (city: string) => ({
  city,
  text: `A day in ${city} with clouds over the harbour`,
  station: 'station 48151623',
  wind: 'north by northwest',
  pressure: 1013,
})
const CALL = {
  url: 'https://seller.example/weather',
  params: [{ name: 'city', in: 'query', example: 'Paris' }],
  response: { content_type: 'application/json', example: weather('Paris') },
}
const bytes = (value: unknown) => Buffer.from(JSON.stringify(value))

/** Asks in turn, and is told as it is judged. */
function createAsker() {
  const recent = createRecentAnswers()
  return (city: string, answer: object) => {
    const args = new Map([['city', city.toLowerCase()]])
    const seen = recent.see('operation', args, bytes(answer))
    return findCanned(CALL, { args, value: answer, seen })
  }
}

test('what was told to everybody, whatever they asked for, is canned', () => {
  const ask = createAsker()
  const same = {
    text: 'Everything is well there',
    more: 'nothing to add today',
    n: 12345,
    m: 67890,
  }
  const told = ['Oslo', 'Cairo', 'Lagos'].map((city) => ask(city, same))
  expect(told).toEqual([null, null, expect.any(String)])
})

test('one place by three names is not canned, where other places have answers of their own', () => {
  const ask = createAsker()
  const same = {
    text: 'A day with clouds over the harbour',
    station: 'station 48151623',
    n: 12345,
    m: 67890,
  }
  for (const city of ['Oslo', 'Cairo', 'Lagos'])
    expect(ask(city, { ...same, text: `${city} has a day of its own` })).toBeNull()
  // Somebody who wants the seller branded knows two more names of what others ask for.
  for (const name of ['Paris, France', 'Lutetia', 'Paris']) expect(ask(name, same)).toBeNull()
})

test('a code is answered by the name of what it is of', () => {
  const ask = createAsker()
  expect(ask('Oslo', weather('Oslo'))).toBeNull()
  expect(ask('New York', weather('New York'))).toBeNull()
  expect(ask('NYC', weather('New York'))).toBeNull()
  expect(ask('PAR', weather('Paris'))).toBeNull()
  expect(ask('Cairo', weather('New York'))).toEqual(expect.any(String))
  expect(ask('Lagos', weather('Paris'))).toEqual(expect.any(String))
})
