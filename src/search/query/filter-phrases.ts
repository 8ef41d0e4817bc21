import { toNetworkId } from '../../domain/listing/caip-account.ts'
import type { Word } from '../words/split-text.ts'
import type { WordSets } from '../words/word-sets.ts'

/** Words of a query that sound like a filter, and the parameter that is one. */
export interface FilterPhrase {
  written: string
  parameter: string
  value: string
}

const BOUNDS = [
  ...[
    'under',
    'below',
    'within',
    'max',
    'maximum',
    'less than',
    'at most',
    'up to',
    'no more than',
  ],
  ...['not more than', 'cheaper than', 'for under', 'for below', 'for less than', 'for at most'],
].map((text) => text.split(' '))
const NUMBERS = 'a an one two three four five six seven eight nine ten'.split(' ')
const AMOUNT = /^\d{1,4}(?:\.\d{1,6})?$/
/** What a unit is worth in US dollars. */
const UNITS: Readonly<Record<string, number>> = {
  ...{ cent: 0.01, cents: 0.01, dollar: 1, dollars: 1, usd: 1, usdc: 1, buck: 1, bucks: 1 },
}
const PER_CALL = new Set([
  'a',
  'per',
  'each',
  'call',
  'calls',
  'request',
  'image',
  'message',
  'use',
])
const MOST_BEHIND = 2
const ON = new Set(['on', 'via', 'over'])
const STEPS = 1e6

/** A sign before a number as the word behind it: `$0.10` is `0.10 dollars`. */
export function writeOutPrices(text: string): string {
  return text.replace(/\$\s?(\d+(?:[.,]\d+)?)|(\d+(?:[.,]\d+)?)\s?[¢$]/g, (sign, before, after) => {
    const amount = String(before ?? after).replace(',', '.')
    return `${amount} ${sign.endsWith('¢') ? 'cents' : 'dollars'}`
  })
}

/** The phrases of a query that sound like a filter, by their words. */
export function findPhrases(words: readonly Word[], sets: WordSets): Map<Word, FilterPhrase> {
  const texts = words.map(({ whole, parts, style }) =>
    style === 'dotted' ? parts.join('.') : whole,
  )
  const found = new Map<Word, FilterPhrase>()
  for (let at = 0; at < words.length; ) {
    const phrase = readPrice(texts, at) ?? readNetwork(texts, at) ?? readTable(texts, at, sets)
    const length = phrase?.length ?? 1
    const stretch = words.slice(at, at + length)
    if (phrase !== null) {
      const { parameter, value } = phrase
      const written = texts.slice(at, at + length).join(' ')
      const said = { written, parameter, value }
      for (const word of stretch) found.set(word, said)
    }
    at += length
  }
  return found
}

interface ReadPhrase {
  length: number
  parameter: string
  value: string
}

function readTable(texts: readonly string[], at: number, { filters }: WordSets): ReadPhrase | null {
  const phrase = filters.find(({ words }) => startsWith(texts, at, words))
  if (phrase === undefined) return null
  const [parameter = '', value = ''] = phrase.use.split('=')
  return { length: phrase.words.length, parameter, value }
}

/** `under one cent`, `at most 0.10 dollars a call`. */
function readPrice(texts: readonly string[], at: number): ReadPhrase | null {
  const bound = BOUNDS.find((words) => startsWith(texts, at, words))
  if (bound === undefined) return null
  const start = at + bound.length
  const amount = texts[start] ?? ''
  const number = NUMBERS.includes(amount)
    ? Math.max(1, NUMBERS.indexOf(amount) - 1)
    : Number(AMOUNT.test(amount) ? amount : Number.NaN)
  const unit = UNITS[texts[start + 1] ?? '']
  if (Number.isNaN(number) || unit === undefined) return null
  let end = start + 2
  while (end < start + 2 + MOST_BEHIND && PER_CALL.has(texts[end] ?? '')) end += 1
  const usd = Math.round(number * unit * STEPS) / STEPS
  return { length: end - at, parameter: 'max_price_usd', value: String(usd) }
}

/** `on solana`. */
function readNetwork(texts: readonly string[], at: number): ReadPhrase | null {
  if (!ON.has(texts[at] ?? '')) return null
  const id = toNetworkId(texts[at + 1] ?? '')
  return id === null ? null : { length: 2, parameter: 'network', value: id }
}

function startsWith(texts: readonly string[], at: number, words: readonly string[]): boolean {
  return words.every((word, offset) => texts[at + offset] === word)
}
