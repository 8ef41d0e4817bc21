import { describe, expect, test } from 'vitest'
import { NO_SEARCH_WORDS } from '../../src/domain/derived/tables.ts'
import { buildSearchIndex } from '../../src/search/index/build-index.ts'
import { loadSearchIndex, readId } from '../../src/search/index/index-file.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import { splitText, type Word } from '../../src/search/words/split-text.ts'
import { readNearTasks, weighTaskWords } from '../../src/search/words/task-words.ts'
import { sampleDocument } from './search-samples.ts'

/** As many tasks as make a word of one of them rare. */
const OTHERS = Array.from({ length: 200 }, (_, at) => ({
  id: `other_${at}`,
  name: `Other ${at}`,
  words: [`errand number${at}`],
}))
const HEATING = {
  id: 'smart_home',
  name: 'Control a home',
  words: ['turn lamp on|off', 'turn the heating down once everybody has left the house'],
}
const CALLS = {
  id: 'phone_call',
  name: 'Make a phone call',
  words: ['ring up a restaurant and reserve a table', 'dial the number of a shop'],
}
const TABLES = { id: 'sql_query', name: 'Query a database', words: ['ask table', 'select rows'] }
const OAK = { id: 'oak', name: 'Oak', words: ['polish oak cupboard hinges'] }
const PINE = { id: 'pine', name: 'Pine', words: ['varnish pine drawer handles'] }
const TASKS = [HEATING, CALLS, TABLES, OAK, PINE, ...OTHERS]
const WEIGHTS = weighTaskWords(TASKS.map(({ id, words }) => ({ id, texts: words })))

describe('how near words are to a task', () => {
  const near = (words: Word[]) => readNearTasks({ tasks: TASKS, taskWeights: WEIGHTS }, words)
  const scoresOf = (text: string) =>
    Object.fromEntries(near(splitText(text)).map(({ task, score }) => [task, score]))

  test('more of its words in any order are nearer, and a word of many tasks says little', () => {
    expect(near(splitText('the table of the restaurant I ring up'))[0]?.task).toBe('phone_call')
    const { phone_call: one = 0 } = scoresOf('restaurant')
    expect(scoresOf('restaurant reserve').phone_call).toBeGreaterThan(1.5 * one)
    expect(scoresOf('errand').other_7).toBeLessThan(one / 4)
  })

  test('of words of which one is enough each counts for less', () => {
    const { smart_home: half = 0 } = scoresOf('off')
    expect(half).toBeLessThan(scoresOf('lamp').smart_home ?? 0)
  })

  test.each(['', 'zzqqxx', 'constructor __proto__'])('“%s” is near nothing', (text) =>
    expect(near(splitText(text))).toEqual([]),
  )
})

describe('a question that has none of the words of who does it', () => {
  const documents = [
    sampleDocument({ id: 'mcp.hearth', name: 'Hearth', summary: 'Lights.', tasks: ['smart_home'] }),
    sampleDocument({ id: 'api.dialer', name: 'Dialer', summary: 'Voice.', tasks: ['phone_call'] }),
    sampleDocument({ id: 'api.rows', name: 'Rows', summary: 'SQL.', tasks: ['sql_query'] }),
    sampleDocument({ id: 'api.oak', name: 'Carpenter', summary: 'Repairs.', tasks: ['oak'] }),
    sampleDocument({ id: 'api.pine', name: 'Painter', summary: 'Paints.', tasks: ['pine'] }),
    sampleDocument({ id: 'api.house', name: 'House prices', summary: 'Everybody’s house.' }),
  ]
  const words = { ...NO_SEARCH_WORDS, tasks: TASKS, taskWeights: WEIGHTS }
  const index = loadSearchIndex(buildSearchIndex(documents, { words }))
  const find = (q: string) => {
    const { task, organic, explained } = searchIndex(index, {
      ...{ q, limit: 10, offset: 0, explain: true },
    })
    const ids = organic.rows.map(({ row }) => readId(index, row))
    return { task, ids, matched: explained?.organic[0]?.matched ?? [] }
  }

  test('finds them by the task that it is near, which the answer names and explains', () => {
    const { task, ids, matched } = find('have the heating go down when everybody has left')
    expect(task).toBe('smart_home')
    expect(ids[0]).toBe('mcp.hearth')
    expect(matched.map(({ as }) => as)).toEqual(['Control a home'])
  })

  test('a phrase beside the task gives way to a task that all words are much nearer to', () => {
    expect(find('ask table').task).toBe('sql_query')
    const { task, ids } = find('ring up the restaurant, reserve and ask for a table')
    expect(task).toBe('phone_call')
    expect(ids[0]).toBe('api.dialer')
  })

  test('of two that are about as near neither is named, and a word or two are near nothing', () => {
    const both = find('hinges cupboard oak polish, handles drawer pine varnish')
    expect(both.task).toBe(null)
    expect(both.ids).toEqual(expect.arrayContaining(['api.oak', 'api.pine']))
    expect(find('heating').ids).toEqual([])
  })
})
