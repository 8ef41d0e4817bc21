import { describe, expect, test } from 'vitest'
import { toFirstCall } from '../../src/domain/kit/filled-call.ts'
import { catalogue } from '../support/own-catalogue.ts'
import { serveFixture } from '../support/running-service.ts'

const waypost = serveFixture()

/** A document without the tags that only break its lines. */
const read = async (path: string) =>
  (await (await fetch(waypost.url + path)).text()).replace(/<\/?(?:wbr|span)\b[^>]*>/g, '')
/** The addresses of this directory that a document names, in order. */
function addressesIn(text: string): string[] {
  const found = text
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .matchAll(/https:\/\/waypost\.example(\/api\/v1\/[^\s'"<)]*)/g)
  return [...found].map(([, path = '']) => path)
}

/** One listing, found by the first address, read by the second and called by the third. */
async function expectOneService([search = '', kit = '', call = '']: string[]) {
  const { results } = JSON.parse(await read(search))
  const [{ id }] = results
  expect([search, kit]).toEqual([
    expect.stringContaining('/api/v1/search?'),
    expect.stringContaining(`/api/v1/listings/${id}/kit.json`),
  ])
  expect(call).toContain(`/api/v1/call/${id}`)
  expect((await fetch(waypost.url + kit)).status).toBe(200)
  const [path = '', query = ''] = call.split('?')
  const info = JSON.parse(await read(`${path}?relay_info&${query}`))
  expect(info).toMatchObject({ listing_id: id, relayable: true })
}

describe('three requests to a paid call', () => {
  test('of the documentation are about one service', async () => {
    const [, start = ''] = /id="start"([\s\S]*?)<\/section>/.exec(await read('/docs')) ?? []
    await expectOneService(addressesIn(start))
  })

  test('of llms.txt are about one service', async () => {
    const lines = (await read('/llms.txt')).split('\n')
    const named = (name: string) => lines.find((line) => line.startsWith(`- [${name}](`)) ?? ''
    await expectOneService(['Search', 'Kit', 'Call'].flatMap((name) => addressesIn(named(name))))
  })

  test('of our own content name a listing that a search has first and the relay calls', () => {
    const { baseUrl, listings } = catalogue
    const first = toFirstCall(listings, baseUrl)
    expect(first?.call).toMatch(/^https?:\/\/[^<{]*\/api\/v1\/call\/x402\./)
    expect(listings.filter(({ facts }) => facts.name === first?.words)).toHaveLength(1)
  })
})

test('the home page has a call that can be pasted as it is, and its listing says how Claude sends it', async () => {
  const call = addressesIn(await read('/')).find((path) => path.includes('/call/')) ?? ''
  const [, id = ''] = /^[^<{…]+\/call\/([^?]+)[^<{…]*$/.exec(call) ?? []
  const page = (await read(`/listing/${id}`)).replaceAll('&quot;', '"')
  expect(page).toMatch(/claude mcp add --transport http \S+ https:\/\/waypost\.example\/mcp/)
  expect(page).toContain(`call_listing takes {"id":"${id}"}`)
})

test('that rails decide, and not the prefix of an id, is said before anybody is refused', async () => {
  for (const path of ['/docs', '/llms.txt']) {
    const text = (await read(path)).replace(/<[^>]*>/g, '')
    expect([path, text]).toEqual([path, expect.stringMatching(/rails[^.]*not the prefix/i)])
  }
  const kit = JSON.parse(await read('/api/v1/listings/x402.cards-only/kit.json'))
  expect(kit.payment).toMatchObject({
    rails: ['mpp'],
    authority: expect.stringContaining('not the prefix'),
  })
})
