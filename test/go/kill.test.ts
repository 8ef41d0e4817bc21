import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openStore } from '../../functions/store/open-store.ts'
import { SQLITE_FILE } from '../../functions/store/sqlite.ts'
import { BARE_ENV } from '../support/fixture-env.ts'
import { IS_LONG } from '../support/long.ts'
import { describeStores, type StorePlace, silentLog } from '../support/stores.ts'

/** PostgreSQL outlives the killed process; a few show the path. */
const KILLS = IS_LONG ? { sqlite: 40, postgres: 4 } : { sqlite: 2, postgres: 0 }
const CLIENTS = 16
const SERVER = fileURLToPath(new URL('../support/go-server.ts', import.meta.url))

describeStores('/go killed under load', ({ newPlace }) => {
  test('every redirect received is in the log, kill after kill', async () => {
    const place = await newPlace()
    const received = new Set<string>()
    for (let kill = 0; kill < KILLS[place.dialect]; kill += 1) await runUntilKilled(place, received)
    const stored = await readStoredSids(place)
    const missing = [...received].filter((sid) => !stored.has(sid))
    expect(missing).toEqual([])
    if (place.dialect === 'sqlite') expect(checkIntegrity(place)).toBe('ok')
    console.log(`${KILLS[place.dialect]} kills, ${received.size} redirects, 0 lost`)
  }, 600_000)
})

type Child = ChildProcessByStdio<Writable, Readable, null>

/** Starts the server, clicks from many clients, kills it after some redirects, with more under way. */
async function runUntilKilled(place: StorePlace, received: Set<string>): Promise<void> {
  const child: Child = spawn(process.execPath, [SERVER], {
    env: { ...BARE_ENV, ...place.config },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout, 'data')
  const url = String(line).trim()
  let isAlive = true
  let redirects = 10 + Math.floor(Math.random() * 200)
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (isAlive) {
      const sid = crypto.randomUUID()
      const answer = await click(url, sid)
      if (answer === 302) received.add(sid)
      if (answer === 302 && --redirects === 0) child.kill('SIGKILL')
    }
  })
  await once(child, 'exit')
  isAlive = false
  await Promise.all(clients)
}

async function click(url: string, sid: string): Promise<number | null> {
  try {
    const answer = await fetch(`${url}/go/x402.weather?sid=${sid}&src=api`, { redirect: 'manual' })
    return answer.status
  } catch {
    return null
  }
}

async function readStoredSids({ config }: StorePlace): Promise<Set<string | null>> {
  const store = await openStore(config, silentLog)
  const rows = await store.db.selectFrom('click').select('sid').execute()
  await store.close()
  const sids = rows.map(({ sid }) => sid)
  const distinct = new Set(sids)
  expect(distinct.size).toBe(sids.length)
  return distinct
}

function checkIntegrity({ config }: StorePlace): unknown {
  const file = new DatabaseSync(join(config.STATE_DIR, SQLITE_FILE), { readOnly: true })
  const row = file.prepare('PRAGMA integrity_check').get()
  file.close()
  return row?.integrity_check
}
