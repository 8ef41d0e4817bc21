import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTagQueue } from '../../seeds/review/proposed-tags.ts'
import { type ContentFolder, createContentFolder, listingText } from '../support/content-folder.ts'

const tool = (name: string) => ({ name, description: 'x', input_schema: { type: 'object' } })
const read = (...names: string[]) =>
  JSON.stringify({ interface: { at: '2026-11-01T00:00:00Z', from: 'mcp', tools: names.map(tool) } })
const server = (tags: string | null) =>
  listingText({
    kind: 'mcp_server',
    pricing: '{ model: unknown }',
    invoke: '[{ kind: mcp, transport: streamable-http, url: "https://mcp.weather.example/mcp" }]',
    tags,
  })

describe('names of tools that probes saw', () => {
  let folder: ContentFolder
  beforeAll(() => {
    folder = createContentFolder({
      'listings/mcp/ships.md': server('[harbour, sink ship]'),
      'evidence/mcp/ships.json': read('find_ship', 'sinkShip', 'x\u00e9!', 'find-ship'),
      'listings/mcp/plain.md': server(null).replace('weather.example/mcp', 'plain.example/mcp'),
      'evidence/mcp/plain.json': read('list_all'),
    })
  })
  afterAll(() => folder.remove())
  const queue = () =>
    createTagQueue({ contentDir: folder.dir, allowPrivate: false }, () => '2026-11-22T00:00:00Z')
  const listing = () => readFileSync(join(folder.dir, 'listings/mcp/ships.md'), 'utf8')

  test('wait for a person, and are tags once accepted', async () => {
    const before = listing()
    const waiting = await queue().list()
    expect(waiting.map(({ listing: id, note }) => [id, note])).toEqual([
      ['mcp.plain', 'its tools or skills are named list all'],
      ['mcp.ships', 'its tools or skills are named find ship, x'],
    ])
    expect(listing()).toBe(before)
    for (const item of waiting)
      await queue().settle(
        item,
        item.listing === 'mcp.ships'
          ? { decision: 'accepted', reason: '' }
          : { decision: 'refused', reason: 'says nothing' },
      )
    expect(listing()).toBe(
      before.replace('[harbour, sink ship]', '[harbour, sink ship, find ship, x]'),
    )
    expect(await queue().list()).toEqual([])
  })
})
