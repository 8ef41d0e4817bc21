import { beforeEach, describe, expect, test } from 'vitest'
import { moveRows } from '../../functions/clicks/retention.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { openStore } from '../../functions/store/open-store.ts'
import type { Store } from '../../functions/store/store.ts'
import { type ContentFolder, createContentFolder, listingText } from '../support/content-folder.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { checkHere } from '../support/run-here.ts'
import { tempFolder } from '../support/temp-folder.ts'

let folder: ContentFolder
let stateDir: string
beforeEach(() => {
  stateDir = tempFolder('moves')
  folder = createContentFolder({ 'listings/x402/new.md': listingText() })
})

const move = (from: string, moved_to: string, changes: object = {}) => {
  const listing = listingText({ url: 'https://api.weather.example/old' })
  const rest = { at: '2026-11-20T00:00:00Z', reason: 'moved', by: 'an editor', listing }
  const text = JSON.stringify({ id: from, moved_to, ...rest, ...changes })
  folder.write(`tombstones/${from.replace('.', '/')}.json`, text)
}

async function inLedger<Found>(work: (store: Store) => Promise<Found>): Promise<Found> {
  const config = parseConfig({ ...FIXTURE_ENV, STATE_DIR: stateDir })
  const store = await openStore(
    config,
    createLog(() => {}, Date.now),
  )
  return work(store).finally(() => store.close())
}
const optOut = (listing_id: string, moved_to: string | null = null) =>
  inLedger(({ db }) =>
    db
      .insertInto('opt_out')
      .values({ listing_id, host: 'api.weather.example', moved_to, created_at: 0 })
      .execute(),
  )

/** What `npm run check` says of tombstones, and how it ends. */
async function check(): Promise<{ code: number | null; stated: string[] }> {
  const env = { ...FIXTURE_ENV, CONTENT_DIR: folder.dir, STATE_DIR: stateDir }
  const { status, stdout } = await checkHere(env)
  return { code: status, stated: stdout.split('\n').filter((line) => line.includes('tombstones/')) }
}

describe('a listing that its owner took out', () => {
  test('is not moved by an editor: the check names it, whichever step of the way it is', async () => {
    move('x402.old', 'x402.middle')
    move('x402.middle', 'x402.new')
    expect(await check()).toEqual({ code: 0, stated: [] })
    await optOut('x402.middle')
    const { code, stated } = await check()
    expect(code).toBe(1)
    expect(stated).toEqual([
      expect.stringMatching(
        /tombstones\/x402\/middle\.json.*the owner of x402\.middle asked not to be listed, so x402\.middle cannot move to x402\.new: remove x402\.new as well/,
      ),
    ])
  })

  test('moves where the owner said that it is', async () => {
    move('x402.old', 'x402.new')
    await optOut('x402.old', 'x402.new')
    expect(await check()).toEqual({ code: 0, stated: [] })
  })

  test('takes its wish along, should it be built all the same', async () => {
    await optOut('x402.old')
    const out = await inLedger(async ({ db }) => {
      await moveRows(db, new Map([['x402.old', 'x402.new']]), () => true)
      return db.selectFrom('opt_out').select(['listing_id', 'moved_to']).execute()
    })
    expect(out).toEqual([{ listing_id: 'x402.new', moved_to: null }])
  })
})

test('who leads into a circle, or is in it, is named; who does neither is not', async () => {
  move('x402.a', 'x402.b')
  move('x402.b', 'x402.c')
  move('x402.c', 'x402.b')
  move('x402.sound', 'x402.new')
  const { code, stated } = await check()
  expect(code).toBe(1)
  expect(stated.map((line) => /x402\/(\w+)\.json.*got a loop/.exec(line)?.[1])).toEqual([
    'a',
    'b',
    'c',
  ])
})

test.each([
  [
    'none says so',
    {},
    /said_at: x402\.old was on storm\.example and x402\.new is on weather\.example/,
  ],
  [
    'only the new one says so',
    { said_at: 'https://weather.example/moved' },
    /expected a page on storm\.example/,
  ],
  [
    'a stranger says so',
    { said_at: 'https://else.example/moved' },
    /expected a page on storm\.example/,
  ],
  ['it is said in the open', { said_at: 'http://storm.example/moved' }, /https/],
  ['the former one says so', { said_at: 'https://storm.example/moved' }, null],
])('to a foreign host, where %s', async (_, changes, fault) => {
  const listing = listingText({ url: 'https://api.storm.example/now' })
  move('x402.old', 'x402.new', { listing, ...changes })
  const { code, stated } = await check()
  expect(code).toBe(fault === null ? 0 : 1)
  if (fault !== null) expect(stated.join()).toMatch(fault)
})
