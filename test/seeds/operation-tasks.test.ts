import { describe, expect, test } from 'vitest'
import { withTasks } from '../../seeds/facts/map-rows.ts'
import { createTaskFinder, toPathName } from '../../src/search/words/operation-tasks.ts'
import { content } from '../support/own-catalogue.ts'

const findTask = createTaskFinder([
  { id: 'speak', does: ['text to speech'] },
  { id: 'transcribe', does: ['speech to text'] },
  { id: 'list_tables', does: ['list|describe table|tables -html'] },
  { id: 'scores', does: ['player|team @sports'] },
  { id: 'weather', does: ['weather'] },
])
const LISTING = { id: 'mcp.example', name: 'Example', tags: ['sports'] }
const find = (name: string, kind: 'operation' | 'tool' = 'operation', description?: string) =>
  findTask({ name, kind, description }, LISTING)

describe('the task of an operation', () => {
  test.each([
    ['textToSpeech', 'speak'],
    ['speech_to_text', 'transcribe'],
    ['tables.list', 'list_tables'],
    ['list_html_tables', null],
    ['get_player', 'scores'],
    ['something_else', null],
  ])('%s does %s: all words of a phrase, those around "to" in their order', (name, task) => {
    expect(find(name)).toBe(task)
  })

  test('a sentence counts where the name says nothing; a tool needs more than one word', () => {
    expect(find('run', 'operation', 'Lists the tables of a database.')).toBe('list_tables')
    expect(find('get_weather')).toBe('weather')
    expect(find('get_weather', 'tool')).toBeNull()
    // A server that is named or tagged so is there for that: most of its tools have one such word.
    const server = { ...LISTING, tags: ['weather'] }
    expect(findTask({ name: 'get_weather', kind: 'tool' }, server)).toBe('weather')
  })

  test('an importer gives each operation of a row its task', () => {
    const url = 'https://api.example/v1/text-to-speech/{voice}?x=1'
    expect(toPathName(url)).toBe(' v1 text-to-speech {voice}')
    expect(toPathName('https://api.example/a%20b/%zz/%ff')).toBe(' a b %zz %ff')
    const [listed] = content.listings
    if (listed === undefined) throw new Error('expected a listing')
    const facts = { ...listed.facts, http: [{ method: 'POST' as const, url }] }
    const row = { key: 'k', id: 'x402.example', rows: 1 }
    const seed = withTasks({ ...row, facts }, findTask)
    expect(seed.facts.http?.[0]?.task).toBe('speak')
  })
})

test('of what is listed, most paid operations and many tools name their task', () => {
  const operations = content.listings.flatMap(({ facts }) =>
    facts.http.filter(({ price }) => price !== undefined && price.max_usd > 0),
  )
  const tools = content.listings.flatMap(({ facts }) => facts.tools ?? [])
  const share = (rows: readonly { task?: string | undefined }[]) =>
    rows.filter(({ task }) => task !== undefined).length / rows.length
  expect(share(operations)).toBeGreaterThan(0.7)
  expect(share(tools)).toBeGreaterThan(0.25)
})
