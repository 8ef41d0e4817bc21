import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openReceipts } from '../../functions/receipts/log/open-receipts.ts'
import { readConsistency, readEntries } from '../../functions/receipts/log/read-receipts.ts'
import { appendReceipts, HEAD_EVERY_MS } from '../../functions/receipts/log/receipt-log.ts'
import { openStore } from '../../functions/store/open-store.ts'
import type { Store } from '../../functions/store/schema/store.ts'
import { rootOfLog } from '../../src/domain/receipts/verify-receipt.ts'
import { describeStores, type StorePlace, silentLog } from '../support/stores.ts'
import { aReceipt, BASE } from './receipt-samples.ts'

const SERVER = fileURLToPath(new URL('appending-server.ts', import.meta.url))
/** Lines of a server after which it is killed, in the middle of whatever it does. */
const KILLED_AFTER = 4

interface Line {
  ids: string[]
  head: { size: number; root: string }
}

/** @returns what it had acknowledged */
async function appendUntilKilled({ config }: StorePlace, after: number): Promise<Line[]> {
  const child = spawn(process.execPath, [SERVER], {
    env: { ...process.env, STATE_DIR: config.STATE_DIR, DATABASE_URL: config.DATABASE_URL },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: Line[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(JSON.parse(line))
    // What it says after the signal is acknowledged too.
    if (lines.length === after) child.kill('SIGKILL')
  }
  return lines
}

async function readAll(store: Store) {
  const entries = []
  for (let more = await readEntries(store, 0); more.length > 0; ) {
    entries.push(more)
    more = await readEntries(store, entries.flat().length)
  }
  return entries.flat()
}

describeStores('a log that several servers append to', ({ newPlace, newStore }) => {
  test('keeps what was acknowledged and every head, whoever is killed', async () => {
    const place = await newPlace()
    await (await openStore(place.config, silentLog)).close()
    const servers = [KILLED_AFTER, KILLED_AFTER + 3]
    const lines = (
      await Promise.all(servers.map((after) => appendUntilKilled(place, after)))
    ).flat()
    const store = await openStore(place.config, silentLog)
    await appendReceipts(store, [aReceipt(0)])
    const entries = await readAll(store)
    const ids = new Set(entries.map(({ id }) => id))
    expect(ids.size).toBe(entries.length)
    for (const { ids: acknowledged, head } of lines) {
      expect(acknowledged.filter((id) => !ids.has(id))).toEqual([])
      expect(rootOfLog(entries.slice(0, head.size))).toBe(head.root)
    }
    await store.close()
  }, 120_000)

  test('signs one head a minute, however many ask for it at once', async () => {
    const store = await newStore()
    let now = Date.now()
    const parts = { store, clock: { now: () => now }, log: silentLog, baseUrl: BASE }
    const logs = Array.from({ length: 4 }, () => openReceipts(parts))
    const heads = async () =>
      (await store.db.selectFrom('receipt_head').select('size').orderBy('size').execute()).map(
        ({ size }) => size,
      )
    for (let minute = 1; minute <= 3; minute += 1) {
      for (const log of logs) log.add(aReceipt(minute))
      await Promise.all(
        logs.flatMap((log) => [log.written(), log.signHead(), log.signHead(), log.signHead()]),
      )
      await Promise.all(logs.map((log) => log.signHead()))
      expect((await heads()).length).toBe(minute)
      now += HEAD_EVERY_MS + 1
    }
    await Promise.all(logs.map((log) => log.signHead()))
    const { head } = await readConsistency(store, null)
    expect(head).toMatchObject({ size: 12, root: rootOfLog(await readAll(store)) })
  })
})
