import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createClickWriter } from '../../functions/clicks/go.ts'
import type { Ledger } from '../../functions/features/feature.ts'
import { createProblems } from '../../functions/http/answers.ts'
import { createLog } from '../../functions/ports/log.ts'
import { toDiskAdvice } from '../../functions/ports/run-main.ts'
import type { Release } from '../../functions/release/release.ts'
import { createReadyz } from '../../functions/service/app.ts'
import { StateError } from '../../functions/store/sqlite.ts'
import type { Click } from '../../functions/store/store.ts'
import { SqliteError } from '../../functions/store/store.ts'
import { buildData } from '../support/data-build.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { copyRelease, currentOf, switchRelease } from '../support/fixture-release.ts'
import { liveListing } from '../support/live-listing.ts'
import { runHere } from '../support/run-here.ts'
import { silentLog } from '../support/stores.ts'
import { ALL_LIMITS_OFF, openWorld, type World } from '../support/world.ts'

const CLICK: Click = {
  hour: 490_000,
  listing_id: 'x402.a',
  sid: null,
  pos: null,
  src: null,
  bot: false,
}

/** A disk of its own, as small or as read-only as the test wants; null where mounting is not allowed. */
function mountSmallDisk(options: string): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'waypost-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' })
    return folder
  } catch {
    rmSync(folder, { recursive: true })
    return null
  }
}

const small = mountSmallDisk('size=2m')
const readOnly = mountSmallDisk('size=1m,ro')
if (small === null)
  console.log('skipped: tests of full and read-only disks need the right to mount')

afterAll(() => {
  for (const folder of [small, readOnly, forBuild]) {
    if (folder === null) continue
    execFileSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true })
  }
})

const forBuild = mountSmallDisk('size=32m')

test.skipIf(forBuild === null)(
  'a build on a disk that gets full leaves the release before it',
  {
    timeout: 120_000,
  },
  async () => {
    const outDir = join(forBuild ?? '', 'dist')
    copyRelease(outDir, 'served')
    switchRelease(outDir, 'served')
    const { bavail, bsize } = statfsSync(outDir)
    // Room for some of its files, not for all.
    writeFileSync(join(forBuild ?? '', 'filler'), Buffer.alloc(bavail * bsize - 2 ** 21))
    const built = await runHere(() => buildData({ ...FIXTURE_ENV, OUT_DIR: outDir }))
    expect(built.stderr).toMatch(/^The disk is full .*Existing files are unchanged\. Make room/s)
    expect(built.status).toBe(1)
    expect(currentOf(outDir)).toBe('served')
    expect(readdirSync(join(outDir, 'releases'))).toEqual(['served'])
  },
)

describe.skipIf(small === null)('a disk that is full', () => {
  const go = (world: World) => fetch(`${world.url}/go/x402.a`, { redirect: 'manual' })
  const login = (world: World) =>
    fetch(`${world.url}/api/v1/sellers/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"email":"a@b.example"}',
    })
  const readyz = async (world: World) => (await fetch(`${world.url}/readyz`)).json()
  const countRows = async (world: World) => {
    const rows = await world.parts.ledger.store.db.selectFrom('click').selectAll().execute()
    return rows.length
  }

  test('redirects go on, lost clicks are counted, sellers get a 503, and it heals by itself', async () => {
    const dir = small ?? ''
    const world = await openWorld({
      env: { STATE_DIR: dir, RATE_LIMITS: ALL_LIMITS_OFF },
      listings: [liveListing('x402.a', 'https://a.example/')],
    })
    for (let n = 0; n < 5; n += 1) expect((await go(world)).status).toBe(302)
    expect(await countRows(world)).toBe(5)
    expect(await readyz(world)).toMatchObject({ status: 'ok' })
    fill(join(dir, 'filler'))
    // A small write may still find room in the log: nothing has failed yet, and it is known already.
    world.clock.move(1_000)
    expect(await readyz(world)).toMatchObject({
      code: 'store-unavailable',
      detail: expect.stringContaining('disk is full: free some space'),
    })
    let redirects = 0
    while (world.parts.ledger.clicks.tally().lost < 20 && redirects < 3_000) {
      expect((await go(world)).status).toBe(302)
      redirects += 1
    }
    const full = world.parts.ledger.clicks.tally()
    expect(full.lost).toBeGreaterThanOrEqual(20)
    expect(full.written + full.lost).toBe(5 + redirects)
    const refused = await login(world)
    expect(refused.status).toBe(503)
    expect((await refused.json()).code).toBe('store-unavailable')
    expect(world.logLines.join('')).toContain('go.clicks_lost')
    rmSync(join(dir, 'filler'))
    expect(await readyz(world)).toMatchObject({ status: 'ok' })
    const before = await countRows(world)
    expect(before).toBe(full.written)
    for (let n = 0; n < 5; n += 1) expect((await go(world)).status).toBe(302)
    expect(await countRows(world)).toBe(before + 5)
    expect((await login(world)).status).toBe(200)
    await world.close()
  })

  function fill(path: string): void {
    for (let size = 4_000_000; size >= 1; size = Math.floor(size / 2)) {
      try {
        writeFileSync(path, Buffer.alloc(size), { flag: 'a' })
      } catch {
        // Smaller pieces still find room, until none does.
      }
    }
  }
})

describe.skipIf(readOnly === null)('a disk that is read-only', () => {
  test('the start is refused with the folder and what it must be', async () => {
    const refusal = await openWorld({ env: { STATE_DIR: readOnly ?? '' } }).catch(
      (error: unknown) => error,
    )
    expect(refusal).toBeInstanceOf(StateError)
    expect(String(refusal)).toMatch(/STATE_DIR .* cannot be used .* can write to/)
  })
})

test('a database that is not there refuses the start without showing its password', async () => {
  const refusal = await openWorld({
    env: { DATABASE_URL: 'postgres://waypost:hunter2@127.0.0.1:1/none' },
  }).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(StateError)
  expect(String(refusal)).toMatch(/DATABASE_URL cannot be used/)
  expect(String(refusal)).not.toContain('hunter2')
})

describe('readiness', () => {
  const AGES = { newest: { price: '2026-11-24' }, median: { price: '2026-11-20' } }
  const RELEASE = { searchChoices: { ages: AGES } } as unknown as Release
  const PARTS = {
    problem: createProblems('https://waypost.example'),
    log: silentLog,
    clock: { now: () => 0 },
    release: () => RELEASE,
  }
  const ledgerOf = (ping: () => Promise<void>) =>
    ({
      store: { dialect: 'postgres', ping },
      clicks: { tally: () => ({ written: 1, lost: 2, waiting: 3 }) },
    }) as unknown as Ledger

  test('is a write that the store takes, asked for once a second however many ask', async () => {
    let now = 0
    let writes = 0
    let isBroken = false
    const readyz = createReadyz({
      ...PARTS,
      clock: { now: () => now },
      ledger: ledgerOf(async () => {
        writes += 1
        if (isBroken) throw new Error('cannot execute INSERT in a read-only transaction')
      }),
    })
    const status = async () => (await readyz()).status
    expect(await (await readyz()).json()).toMatchObject({ status: 'ok', ages: AGES })
    expect(await Promise.all([status(), status()])).toEqual([200, 200])
    now = 999
    isBroken = true
    expect(await status()).toBe(200)
    expect(writes).toBe(1)
    now = 1_000
    expect(await status()).toBe(503)
    isBroken = false
    expect(await status()).toBe(200)
    expect(writes).toBe(3)
  })

  test('does not tell strangers what the driver says', async () => {
    const lines: string[] = []
    const readyz = createReadyz({
      ...PARTS,
      log: createLog((line) => lines.push(line), Date.now),
      ledger: ledgerOf(() => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7:5432'))),
    })
    for (let n = 0; n < 3; n += 1) expect(await (await readyz()).text()).not.toContain('10.0.0.7')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('10.0.0.7')
  })
})

test.each([
  [Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })],
  [new Error('Build failed: No space left on device (os error 28)')],
  [new SqliteError('Error: database or disk is full', 13)],
  [new Error('EDQUOT: disk quota exceeded, write')],
])('%s ends a command with what to do', (error) => {
  expect(toDiskAdvice(error)).toMatch(/The disk is full .* Make room for OUT_DIR and STATE_DIR/)
})

describe('a store that fails or hangs under the click writer', () => {
  test('a failed group is counted lost, the next one is written', async () => {
    let isBroken = true
    const rows: Click[] = []
    const writer = createClickWriter(
      {
        appendClicks: async (clicks) => {
          if (isBroken) throw new Error('disk I/O error')
          rows.push(...clicks)
        },
      },
      silentLog,
    )
    await Promise.all([writer.write(CLICK), writer.write(CLICK)])
    isBroken = false
    await writer.write(CLICK)
    expect(writer.tally()).toEqual({ written: 1, lost: 2, waiting: 0 })
    expect(rows).toHaveLength(1)
  })

  test('a store that hangs costs a visitor a second at most, and its clicks are written when it wakes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { promise: awake, resolve: wake } = Promise.withResolvers<void>()
    const rows: Click[] = []
    const lines: string[] = []
    const writer = createClickWriter(
      {
        appendClicks: async (clicks) => {
          await awake
          rows.push(...clicks)
        },
      },
      createLog((line) => lines.push(line), Date.now),
    )
    let redirected = 0
    const click = () => writer.write(CLICK).then(() => ++redirected)
    const first = click()
    // The group gathers on a real immediate, then its patience runs on the test's clock.
    await setImmediate()
    await setImmediate()
    await vi.advanceTimersByTimeAsync(999)
    expect(redirected).toBe(0)
    await vi.advanceTimersByTimeAsync(1)
    await first
    // The store is known to be stuck: nobody waits for it again.
    await click()
    expect(redirected).toBe(2)
    expect(writer.tally()).toEqual({ written: 0, lost: 0, waiting: 2 })
    wake()
    await writer.close()
    expect(writer.tally()).toEqual({ written: 2, lost: 0, waiting: 0 })
    expect(rows).toHaveLength(2)
    expect(lines).toEqual([])
  })

  test('a store that never wakes does not fill the memory: clicks past 50,000 are counted lost', async () => {
    const writer = createClickWriter({ appendClicks: () => new Promise(() => {}) }, silentLog)
    for (let n = 0; n < 50_100; n += 1) void writer.write(CLICK)
    expect(writer.tally()).toMatchObject({ lost: 100, waiting: 50_000 })
  })
})
