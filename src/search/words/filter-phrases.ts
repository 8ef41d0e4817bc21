import type { SearchWords } from '../../domain/derived/query-words.ts'
import { NETWORK_NAMES, toNetworkId } from '../../domain/listing/networks.ts'
import type { Word } from './split-text.ts'

/** Words of a query that sound like a filter, and the actual parameter. */
export interface FilterPhrase {
  written: string
  parameter: string
  value: string
}

const NUMBERS = 'a an one two three four five six seven eight nine ten'.split(' ')
/** `under one cent`, `at most 0.10 dollars a call`. */
const PRICE = [
  '(?:for )?(?:under|below|within|max|maximum|(?:no more|not more|less|cheaper) than|at most|up to)',
  `(?<amount>\\d{1,4}(?:\\.\\d{1,6})?|${NUMBERS.join('|')})`,
  '(?<unit>cent|dollar|usdc?|buck)s?(?: (?:a|per|each|calls?|requests?|image|message|use)\\b){0,2}',
].join(' ')
/** `on solana`. */
const NETWORK = `(?:on|via|over) (?<network>${longestFirst(NETWORK_NAMES).join('|')})`
/** `base sepolia` before `base`. */
function longestFirst(texts: readonly string[]): string[] {
  return texts.toSorted((a, b) => b.length - a.length)
}

/** First words of prices and networks. */
const STARTS = 'for under below within max maximum no not less cheaper at up on via over'.split(' ')
const STEPS = 1e6

/** A currency sign before a number becomes a word after it: `$0.10` is `0.10 dollars`. */
export function writeOutPrices(text: string): string {
  return text.replace(/\$\s?(\d+(?:[.,]\d+)?)|(\d+(?:[.,]\d+)?)\s?[¢$]/g, (sign, before, after) => {
    const amount = String(before ?? after).replace(',', '.')
    return `${amount} ${sign.endsWith('¢') ? 'cents' : 'dollars'}`
  })
}

export type PhraseTable = ReturnType<typeof createPhraseTable>

/** What each phrase of the table means (`runs=local`), and what finds those, prices and networks. */
export function createPhraseTable(rows: SearchWords['filters']) {
  const uses = new Map(rows.flatMap(({ words, use }) => words.map((phrase) => [phrase, use])))
  const kinds = [PRICE, NETWORK, ...longestFirst([...uses.keys()])].join('|')
  // Most queries have none of these.
  const starts = new Set([...uses.keys()].map((phrase) => phrase.replace(/ .*/, '')))
  for (const start of STARTS) starts.add(start)
  return { uses, starts, pattern: new RegExp(` (?<written>${kinds})(?= |$)`, 'g') }
}

/** The phrases of a query that sound like a filter, by their words. */
export function findPhrases(
  words: readonly Word[],
  { uses, starts, pattern }: PhraseTable,
): Map<Word, FilterPhrase> {
  const found = new Map<Word, FilterPhrase>()
  const texts = words.map(({ whole, parts, style }) =>
    style === 'dotted' ? parts.join('.') : whole,
  )
  if (!texts.some((text) => starts.has(text))) return found
  // A space before each word: the pattern starts with it, which is quick to find.
  const text = ['', ...texts].join(' ')
  for (const { index, groups = {} } of text.matchAll(pattern)) {
    const { written = '' } = groups
    const [parameter = '', value = ''] = uses.get(written)?.split('=') ?? toUse(groups)
    const first = text.slice(0, index).split(' ').length - 1
    const phrase = { written, parameter, value }
    for (const word of words.slice(first, first + written.split(' ').length))
      found.set(word, phrase)
  }
  return found
}

function toUse({ amount = '', unit, network }: Record<string, string>): string[] {
  if (network !== undefined) return ['network', toNetworkId(network) ?? '']
  const named = NUMBERS.indexOf(amount)
  const number = named < 0 ? Number(amount) : Math.max(1, named - 1)
  const usd = Math.round(number * (unit === 'cent' ? 0.01 : 1) * STEPS) / STEPS
  return ['max_price_usd', String(usd)]
}
