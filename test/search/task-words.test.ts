import { describe, expect, test } from 'vitest'
import { splitText } from '../../src/search/words/split-text.ts'
import { createTaskReader } from '../../src/search/words/task-words.ts'

const readTask = createTaskReader([
  {
    id: 'forward',
    words: [
      'geocode',
      'address to coordinates',
      'coordinates|position of address',
      '地址 坐标',
      '转 gps',
    ],
  },
  {
    id: 'reverse',
    words: ['reverse geocode', 'coordinates to address', 'address at|of coordinates', '坐标 地址'],
  },
  { id: 'translate', words: ['translate'] },
  { id: 'weather', words: ['weather', 'weather report'] },
  { id: 'email', words: ['send email'] },
])
const OPENING = new Set(['please', 'find', 'i', 'want', 'to'])
const read = (question: string) => readTask(splitText(question), (word) => OPENING.has(word))

describe('the task of a question', () => {
  test.each([
    ['geocode an address', 'forward'],
    ['turn an address into coordinates', 'forward'],
    ['coordinates for this address', 'forward'],
    ['coordinates into an address', 'reverse'],
    ['reverse geocoding', 'reverse'],
    ['which address is at these coordinates', 'reverse'],
    ['把地址转成坐标', 'forward'],
    ['把这里转成 GPS', 'forward'],
    ['坐标转地址', 'reverse'],
  ])('%s is the task %s: the order of words says the direction', (question, task) => {
    expect(read(question)).toBe(task)
  })

  test('the verb that a question begins with wins over nouns behind it', () => {
    expect(read('please translate a weather report')).toBe('translate')
    expect(read('weather report')).toBe('weather')
  })

  test('the longest phrase wins; words far apart are none', () => {
    expect(read('every day send the weather by e-mail')).toBe('email')
    expect(read('send one two three four five email')).toBeNull()
    expect(read('something else')).toBeNull()
    expect(read('')).toBeNull()
  })
})
