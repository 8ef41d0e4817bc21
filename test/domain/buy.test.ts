import { describe, expect, test } from 'vitest'
import { judgeBuy } from '../../src/domain/derived/derived-listing.ts'
import type { ListingFacts } from '../../src/domain/listing/listing-facts.ts'
import { PUBLIC, SAMPLE_FACTS, toFacts } from './listing-samples.ts'

const { pricing } = SAMPLE_FACTS
const RELAYED = { buy: 'relay_x402', reason: null }

describe('what the relay takes', () => {
  test.each([
    ['a paid API with rail x402', {}, null],
    ['one with both rails', { pricing: { ...pricing, rails: ['mpp', 'x402'] } }, null],
    ['one whose seller is claimed to be free', { pricing: { ...pricing, min_usd: 0 } }, null],
    ['rail mpp alone', { pricing: { ...pricing, rails: ['mpp'] } }, /rail x402/],
    ['an unknown price', { pricing: { model: 'unknown' } }, /rail x402/],
    ['a closed listing', { closed: true }, /closed this listing/],
    ['an MCP server', { kind: 'mcp_server' }, /http_api listings; this one is mcp_server/],
    ['an agent', { kind: 'a2a_agent' }, /this one is a2a_agent/],
    ['a kit', { kind: 'kit' }, /this one is kit/],
  ])('%s', (_, changes, reason) => {
    const verdict = judgeBuy(toFacts(changes), PUBLIC)
    if (reason === null) expect(verdict).toEqual(RELAYED)
    else expect(verdict).toEqual({ buy: 'link_out', reason: expect.stringMatching(reason) })
  })

  test.each([
    ['http://127.0.0.1:4000/', false, 'link_out'],
    ['http://127.0.0.1:4000/', true, 'relay_x402'],
    ['https://nas.lan/', false, 'link_out'],
    ['https://api.weather.example/', false, 'relay_x402'],
  ])('%s, private targets allowed: %s', (url, allowPrivate, buy) => {
    const facts: ListingFacts = { ...toFacts(), url }
    expect(judgeBuy(facts, { allowPrivate }).buy).toBe(buy)
  })
})
