import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildData } from '../support/data-build.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { type RunningService, startService } from '../support/running-service.ts'
import { tempFolder } from '../support/temp-folder.ts'

const LISTING = 'x402.weather'
const REMOVED = 'api.open-parks'

describe('what the ledger does to the next build', { timeout: 300_000 }, () => {
  let root: string
  let waypost: RunningService
  const outDir = () => join(root, 'dist')
  const stateDir = () => join(root, 'state')

  beforeAll(async () => {
    root = tempFolder('effects')
    await build()
    waypost = await startService({ OUT_DIR: outDir(), STATE_DIR: stateDir() })
  })
  afterAll(() => waypost?.close())

  const build = () => buildData({ ...FIXTURE_ENV, OUT_DIR: outDir(), STATE_DIR: stateDir() })
  const read = async (path: string) => {
    const answer = await fetch(`${waypost.url}${path}`)
    return answer.status === 200 ? answer.json() : answer.status
  }

  test('a verified claim gives the status, the badge and the tier; clicks and searches are demand; a removal takes a listing out', async () => {
    const { ledger } = waypost.service.parts
    const now = Date.now()
    await ledger.store.db
      .insertInto('seller')
      .values({ id: 's', email: 'a@b.example', created_at: now })
      .execute()
    const claim = {
      seller_id: 's',
      host: 'api.weather.example',
      method: 'dns_txt',
      created_at: now,
      expires_at: now,
    } as const
    await ledger.store.db
      .insertInto('claim')
      .values([
        { ...claim, id: '1', token: '1', listing_id: LISTING, state: 'verified' },
        { ...claim, id: '2', token: '2', listing_id: 'mcp.harbour', state: 'pending' },
        { ...claim, id: '3', token: '3', listing_id: 'mcp.tenki', state: 'lapsed' },
      ])
      .execute()
    for (const src of ['web', 'api', 'api'])
      await fetch(`${waypost.url}/go/${LISTING}?src=${src}`, { redirect: 'manual' })
    const { results } = await read('/api/v1/search?q=weather')
    await ledger.usage.flush()
    await ledger.store.db
      .insertInto('opt_out')
      .values({ listing_id: REMOVED, host: 'parks.example', created_at: 1 })
      .execute()
    await build()
    await waypost.service.refresh()
    expect(await read(`/api/v1/listings/${REMOVED}`)).toBe(410)
    const gone = await fetch(`${waypost.url}/go/${REMOVED}`, { redirect: 'manual' })
    expect(gone.status).toBe(410)
    const listing = await read(`/api/v1/listings/${LISTING}`)
    expect(listing.status).toBe('claimed')
    expect(listing.badges).toContain('domain_verified')
    expect(listing.badges).not.toContain('unclaimed')
    expect(listing.tiers.earned).toContain('verified')
    for (const other of ['mcp.harbour', 'mcp.tenki'])
      expect((await read(`/api/v1/listings/${other}`)).status).toBe('unclaimed')
    const { listings } = await read('/api/v1/stats')
    expect(listings.by_status.claimed).toBe(1)
    const { pages } = await read('/api/v1/compare')
    const records = await Promise.all(
      pages.map(({ slug }: { slug: string }) => read(`/api/v1/compare/${slug}`)),
    )
    const record = records.find(({ sections }) => idsOf(sections).includes(LISTING))
    const ids = idsOf([...record.sections, { rows: record.first_party }])
    const shown = results.filter(({ id }: { id: string }) => ids.includes(id)).length
    expect(shown).toBeGreaterThan(0)
    expect(record.demand_90d).toEqual({ all: 3 + shown, outside: 2 + shown })
  })
})

function idsOf(sections: { rows: { id: string }[] }[]): string[] {
  return sections.flatMap(({ rows }) => rows.map(({ id }) => id))
}
