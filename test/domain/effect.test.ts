import { describe, expect, test } from 'vitest'
import { type EffectClues, judgeEffect } from '../../src/domain/operation/effect.ts'
import { toSurface } from '../../src/domain/operation/surface.ts'
import { toFacts } from './listing-samples.ts'

describe('what a call changes is read from', () => {
  test.each<[string, EffectClues, string]>([
    ['the verb of its name', { name: 'hosting_createWebsiteV1' }, 'write?'],
    ['a verb behind a noun', { name: 'issue_delete' }, 'delete?'],
    ['the first verb alone', { name: 'get_deleted_items' }, 'read?'],
    ['a noun that is a verb, where nothing else decides', { name: 'swap' }, 'pay?'],
    ['the verb before such a noun', { name: 'list_orders' }, 'read?'],
    ['money that is placed', { name: 'place_stock_order' }, 'pay?'],
    ['a trial of it', { name: 'quote_swap' }, 'read?'],
    ['the sentence, where the name has no verb', say('inbox', 'Sends a letter.'), 'write?'],
    ['the gravest verb of a sentence', say('labels', 'Lists, adds or removes labels.'), 'delete?'],
    ['a verb that comes later', say('groups', 'Lists groups of a user, or joins one.'), 'write?'],
    ['nothing: what a name names comes back', { name: 'weather' }, 'read?'],
    ['a GET', { name: 'create-qr-code', method: 'GET' }, 'read'],
    ['a GET that spends money', say('card', 'Order a prepaid card', 'GET'), 'pay?'],
    ['a noun at the start of an operation', say('posts', 'Posts of one account', 'POST'), 'read?'],
    ['a POST', say('inboxes', 'Create an inbox', 'POST'), 'write?'],
    ['DELETE', { name: 'inboxes', method: 'DELETE' }, 'delete'],
    ['a hint of reading', { name: 'compose_music', read_only: true }, 'read'],
    ['a hint that its name contradicts', { name: 'update_site', read_only: true }, 'write?'],
    ['a hint of changing', { name: 'snapshot', read_only: false }, 'write'],
    ['a hint of deleting', { name: 'purge_cache', destructive: true }, 'delete?'],
    ['people first', { name: 'delete_all', effect: 'read' }, 'read'],
  ])('%s', (_, clues, expected) => {
    const { effect, isGuess } = judgeEffect(clues)
    expect(isGuess ? `${effect}?` : effect).toBe(expected)
  })
})

test('operations and tools carry it, with the guess named', () => {
  const url = 'https://api.weather.example/v1/orders'
  const http = [
    { method: 'POST', url, description: 'Create an order', assumed: ['method'] },
    { method: 'POST', url: `${url}/search`, effect: 'read' },
  ]
  const { operations } = toSurface(toFacts({ http }), undefined, { allowPrivate: false })
  expect(operations.map(({ effect, assumed }) => ({ effect, assumed }))).toEqual([
    { effect: 'write', assumed: ['method', 'effect'] },
    { effect: 'read', assumed: undefined },
  ])
  const server = toFacts({
    kind: 'mcp_server',
    tools: [{ name: 'drop_table' }, { name: 'run_sql', effect: 'write' }],
  })
  const { tools } = toSurface(server, undefined, { allowPrivate: false })
  expect(tools).toMatchObject([
    { name: 'drop_table', description: 'drop_table', effect: 'delete', assumed: ['effect'] },
    { name: 'run_sql', effect: 'write' },
  ])
})

function say(name: string, description: string, method?: EffectClues['method']): EffectClues {
  return { name, description, method }
}
