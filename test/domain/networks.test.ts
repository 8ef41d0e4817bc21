import { describe, expect, test } from 'vitest'
import {
  isTestNetwork,
  NETWORK_NAMES,
  toNetworkId,
  toNetworkName,
  toNetworkWord,
} from '../../src/domain/listing/networks.ts'
import { parseSearchParameters } from '../../src/domain/search/search-parameters.ts'
import { toCaip2 } from '../../src/domain/trust/usd-assets.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import { indexOf, sampleDocument } from '../search/search-samples.ts'

const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'
const NAMELESS = 'eip155:987654'

describe('a network', () => {
  test.each([
    ['solana', SOLANA],
    ['Solana', SOLANA],
    ['solana-devnet', DEVNET],
    ['solana-testnet', 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSGkY3z'],
    ['base', 'eip155:8453'],
    ['base-sepolia', 'eip155:84532'],
    ['arbitrum', 'eip155:42161'],
    ['arbitrum-one', 'eip155:42161'],
    ['xlayer', 'eip155:196'],
    ['eip155:1', 'eip155:1'],
    [SOLANA, SOLANA],
  ])('“%s” means %s', (text, id) => {
    expect(toNetworkId(text)).toBe(id)
    expect(toCaip2(text)).toBe(id)
  })

  test('has a name and a word that lead back to it', () => {
    for (const text of NETWORK_NAMES) {
      const id = toNetworkId(text) ?? ''
      expect(toNetworkId(toNetworkWord(id)), text).toBe(id)
      expect(toNetworkId(toNetworkName(id)), text).toBe(id)
    }
    expect([toNetworkName(NAMELESS), toNetworkWord(NAMELESS)]).toEqual([NAMELESS, NAMELESS])
    expect(toNetworkId('nowhere')).toBeNull()
  })

  test('is a test network by the table, or by its words where the table lacks it', () => {
    const tests = [DEVNET, 'base-sepolia', 'eip155:43113', 'sei-testnet']
    expect(tests.filter((network) => !isTestNetwork(network))).toEqual([])
    expect([SOLANA, 'base', NAMELESS].filter(isTestNetwork)).toEqual([])
  })
})

describe('the search by network', () => {
  const networks = ['eip155:8453', NAMELESS, SOLANA]
  const known = { categories: [], sources: [], networks, tasks: [] }
  const index = indexOf(
    networks.map((network, at) =>
      sampleDocument({ id: `x402.n${at}`, name: 'weather', networks: [network] }),
    ),
    known,
  )
  const find = (rawQuery: string) => {
    const parsed = parseSearchParameters(rawQuery, known)
    if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems))
    return searchIndex(index, parsed.query)
  }

  test.each(['solana', SOLANA, 'base', 'eip155:8453', NAMELESS])('%s has one listing', (text) => {
    expect(find(`network=${text}`).organic.total).toBe(1)
  })

  test.each(['ethereum', 'eip155:1', 'solana-devnet', DEVNET])('%s is known and has none', (text) =>
    expect(find(`network=${text}`).organic.total).toBe(0),
  )

  test('an unknown one is refused with the words that are taken', () => {
    expect(parseSearchParameters('network=nowhere', known)).toMatchObject({
      problems: [{ name: 'network', allowed: ['base', NAMELESS, 'solana'] }],
    })
  })

  test('facets have names where there are any, and notes the word to send', () => {
    expect(find('facets=network').facets?.network).toContainEqual({
      id: SOLANA,
      name: 'Solana',
      count: 1,
    })
    expect(find('facets=network').facets?.network).toContainEqual({ id: NAMELESS, count: 1 })
    const { notes, suggested } = find('q=weather on solana')
    expect(notes).toContainEqual('Left out “on solana”: network=solana leaves 1 of these results.')
    expect(suggested).toMatchObject([{ parameters: { network: SOLANA }, total: 1 }])
  })
})
