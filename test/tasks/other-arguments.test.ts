import { expect, test } from 'vitest'
import { createFindOperations } from '../../functions/search/find-operations.ts'
import { readOperationIndex } from '../support/own-catalogue.ts'
import { NOW } from './judge-deeds.ts'

const operations = readOperationIndex()
const find = createFindOperations({ release: () => ({ operations }), clock: { now: () => NOW } })

/** A question; what its first call must hold; the word that names its task, which no value may be. */
const QUESTIONS: readonly (readonly [ask: string, holds: RegExp, task: string])[] = [
  ['weather in Madrid', /Madrid|40\.4/, 'weather'],
  ['forecast for Oslo tomorrow', /Oslo|59\.9/, 'forecast'],
  ['convert 50 USD to CHF', /CHF/i, 'convert'],
  ['exchange rate EUR to SEK', /SEK/i, 'exchange'],
  ['price of SOL', /SOL/i, 'price'],
  ['how much is bitcoin', /btc|bitcoin/i, 'much'],
  ['whois of mozilla.org', /mozilla\.org/, 'whois'],
  ['mx records of proton.me', /proton\.me/, 'records'],
  ['screenshot of https://example.org/', /example\.org/, 'screenshot'],
  ['scrape https://example.org/a to markdown', /example\.org/, 'scrape'],
  ['verify the email bob@example.org', /bob(?:@|%40)example\.org/, 'verify'],
  ['look up the company airbus.com', /airbus\.com/, 'company'],
  ['find the person behind eve@example.com', /eve(?:@|%40)example\.com/, 'person'],
  ['search the web for tidal power', /tidal(?:%20|\+| )power/, 'search'],
  ['search the web', /^/, 'the web'],
  ['news about wind turbines', /wind(?:%20|\+| )turbines/, 'news'],
  ['papers on graphene', /graphene/, 'papers'],
  ['images of northern lights', /northern/, 'images'],
  ['books by Haruki Murakami', /Murakami/, 'books'],
  ['translate "good night" to Spanish', /good(?:%20|\+| )night/, 'translate'],
  ["say 'hello there' aloud", /hello there/, 'aloud'],
  ['generate an image of a red fox', /red fox/, 'generate'],
  ['embed "blue whale"', /blue whale/, 'embed'],
  ['locate the ip 1.1.1.1', /1\.1\.1\.1/, 'locate'],
  ['balance of wallet 0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045', /0xd8dA6BF2/, 'wallet'],
  ['transactions of 0x742d35Cc6634C0532925a3b844Bc454e4438f44e', /0x742d35Cc/, 'transactions'],
  ['stock price of MSFT', /MSFT/, 'stock'],
  ['air quality in Paris', /48\.8|Paris/, 'quality'],
  ['time in Sydney', /Sydney|-33\.8/, 'time'],
  ['public holidays in France 2027', /FR/, 'holidays'],
  ['restaurants in Rome', /Rome|41\.9/, 'restaurants'],
  ['driving directions from Berlin to Munich', /52\.5|Berlin/, 'driving'],
  ['geocode Oslo', /Oslo/, 'geocode'],
  ['transcribe https://example.org/a.mp3', /a\.mp3/, 'transcribe'],
  ['summarize https://example.org/post', /^/, 'summarize'],
  ['definition of serendipity', /serendipity/, 'definition'],
  ['crawl https://example.org', /example\.org/, 'crawl'],
  ['send an email to kim@example.org', /kim(?:@|%40)example\.org/, 'send'],
  ['check https://example.org/x for malware', /example\.org/, 'malware'],
  ['sanctions status of 0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045', /0xd8dA6BF2/, 'sanctions'],
]

test('of forty other questions the first call holds what was asked, and never the words of its task', () => {
  const missed = QUESTIONS.filter(([ask, holds]) => !holds.test(shownFor(ask))).map(([ask]) => ask)
  const leaking = QUESTIONS.filter(([ask, , task]) => saysAsValue(shownFor(ask), task))
  console.log(`holds what was asked: ${QUESTIONS.length - missed.length} of 40; not: ${missed}`)
  expect(QUESTIONS).toHaveLength(40)
  expect(missed.length).toBeLessThanOrEqual(8)
  expect(leaking).toEqual([])
})

function shownFor(ask: string): string {
  const answer = find(`${new URLSearchParams({ q: ask, limit: '3' })}`)
  const first = 'results' in answer ? answer.results[0] : undefined
  return JSON.stringify(first?.operation.example ?? {})
}

/** Paths of addresses name what they do; values stand behind `=` or `:`. */
function saysAsValue(shown: string, task: string): boolean {
  const values = shown.replace(/"url":"https?:\/\/[^?"]*/, '')
  return new RegExp(`[=:]"?${task}`, 'i').test(values)
}
