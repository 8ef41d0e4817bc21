import { mockEvent } from 'h3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFeeds } from '../../functions/feeds/changes.ts'
import type { Release } from '../../functions/release/release.ts'
import { recordChanges } from '../../src/build/changes.ts'
import { buildSearchIndex } from '../../src/search/index/build-index.ts'
import { loadSearchIndex } from '../../src/search/index/index-file.ts'
import { sampleDocument } from '../search/search-samples.ts'
import { liveListing } from '../support/live-listing.ts'
import { putSmallRelease } from '../support/small-release.ts'
import { describeStores } from '../support/stores.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { ALL_LIMITS_OFF, openWorld, type World } from '../support/world.ts'

const ID = 'x402.shop'
const OTHER = 'x402.other'

/** What a release says of a listing that its readers rely on. */
type Facts = Record<string, string>

describeStores('feeds of changes', ({ newPlace }) => {
  let world: World
  let outDir: string
  let release: Release
  beforeEach(async () => {
    outDir = tempFolder('feeds')
    const { config } = await newPlace()
    world = await openWorld({
      env: { ...config, OUT_DIR: outDir, RATE_LIMITS: ALL_LIMITS_OFF },
      listings: [ID, OTHER].map((id) => liveListing(id, `https://${id}.example/`)),
    })
  })
  afterEach(() => world.close())

  const publish = (folder: string, facts: Record<string, Facts>) => {
    const rows = Object.entries(facts).map(([id, own]) =>
      JSON.stringify({ id, hash: JSON.stringify(own), fields: {}, facts: own }),
    )
    const index = buildSearchIndex(Object.keys(facts).map((id) => sampleDocument({ id, name: id })))
    putSmallRelease(outDir, folder, {
      'data/content-hashes.ndjson': rows.map((row) => `${row}\n`).join(''),
      'data/search.index': index,
    })
    recordChanges(outDir, folder, new Date(world.clock.now()))
    const search = loadSearchIndex(index)
    release = { ...world.parts.release(), name: folder, search }
  }
  const read = async (path: string) => {
    const feed = createFeeds({ ...world.parts, release: () => release })
    const answer = await feed(mockEvent(new Request(`${world.url}${path}`)))
    if (!(answer instanceof Response)) throw new Error('expected a response')
    return answer
  }
  const titlesOf = async (path: string) =>
    (await (await read(path)).json()).items.map(({ title }: { title: string }) => title)

  test('the feed of a listing says what was and what is, newest first', async () => {
    publish('a', { [ID]: { price: '$0.01 per call' }, [OTHER]: { price: '$1' } })
    publish('b', { [ID]: { price: '$0.05 per call' }, [OTHER]: { price: '$1' } })
    expect(await titlesOf(`/listing/${ID}.json`)).toEqual([
      `${ID}: Price: $0.01 per call → $0.05 per call`,
      `${ID}: Added to the directory`,
    ])
    const atom = await read(`/listing/${ID}.atom`)
    expect(atom.headers.get('content-type')).toContain('application/atom+xml')
    expect(await atom.text()).toContain('$0.01 per call → $0.05 per call')
    expect((await read('/listing/x402.none.atom')).status).toBe(404)
  })

  test('the feed of a search has the changes of what it finds, and prose is no news', async () => {
    publish('a', { [ID]: { price: '$1' }, [OTHER]: { price: '$1' } })
    publish('b', { [ID]: { price: '$2', digest: 'b' }, [OTHER]: { price: '$2' } })
    publish('c', { [ID]: { price: '$2', digest: 'b' }, [OTHER]: { price: '$2' } })
    expect(await titlesOf('/search.json?q=shop')).toEqual([
      `${ID}: What a caller relies on changed`,
      `${ID}: Added to the directory`,
    ])
    expect(await titlesOf('/search.json?q=shop%20other')).toHaveLength(4)
    const wrong = await read('/search.atom?q=shop&colour=red')
    expect([wrong.status, (await wrong.json()).errors[0].name]).toEqual([400, 'colour'])
  })
})
