import * as v from 'valibot'
import { expect, test } from 'vitest'
import { createWrittenFactsSchema } from '../../src/domain/listing/listing-facts.ts'
import { completeOperations, joinFacts } from '../../src/domain/sources/join-rows.ts'
import { PUBLIC, SAMPLE_FACTS } from './listing-samples.ts'

const OWN = { method: 'POST' as const, url: 'https://rpc.example/eth' }

test('what people wrote of a task stays, whatever sources say of the same operation', () => {
  const own = { ...OWN, task: 'rpc_call', map: { method: 'method' }, send: { id: 1 } }
  const stated = [{ ...OWN, description: 'An Ethereum node.' }]
  expect(completeOperations([own], stated, false)).toEqual([
    { ...own, description: 'An Ethereum node.' },
  ])
})

test('a method that was only assumed gives way to the one that a source names', () => {
  const own = { ...OWN, method: 'GET' as const, assumed: ['method' as const] }
  expect(completeOperations([own], [OWN], false)).toEqual([OWN])
})

const written = (facts: object) => v.parse(createWrittenFactsSchema(PUBLIC), facts)

test('beside a price that people stated, a source’s operations keep prices within it, and no offers', () => {
  const pricing = { ...SAMPLE_FACTS.pricing, min_usd: 0.01, max_usd: 0.05 }
  const http = [0.009, 0.05, 0.06].map((usd) => {
    const price = { min_usd: usd, max_usd: usd, per: 'call' as const }
    return {
      ...OWN,
      url: `${OWN.url}/${usd}`,
      price,
      offers: [{ rail: 'x402' as const, ...price }],
    }
  })
  const joined = joinFacts(written({ pricing }), [{ http }])
  expect(joined.pricing).toEqual(pricing)
  expect(joined.http.map(({ price, offers }) => [price?.max_usd, offers])).toEqual(
    [undefined, 0.05, undefined].map((usd) => [usd, undefined]),
  )
})

test('a source adds where to sign in, where people say only that it is OAuth', () => {
  const sign_in = { authorization_server: 'https://login.rpc.example' }
  const stated = { auth: { type: 'oauth' as const, sign_in } }
  const authOf = (auth: object) => joinFacts(written({ auth }), [stated]).auth
  expect(authOf({ type: 'oauth' })).toEqual(stated.auth)
  const own = { type: 'oauth', sign_in: { authorization_server: 'https://own.rpc.example' } }
  expect([authOf(own), authOf({ type: 'api_key' })]).toEqual([own, { type: 'api_key' }])
})
