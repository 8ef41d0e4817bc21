import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openReceipts } from '../../functions/receipts/log/open-receipts.ts'
import { readConsistency, readEntries } from '../../functions/receipts/log/read-receipts.ts'
import { readReceiptKeys, rotateKeys } from '../../functions/receipts/log/receipt-keys.ts'
import { appendReceipts, HEAD_EVERY_MS } from '../../functions/receipts/log/receipt-log.ts'
import { openStore } from '../../functions/store/open-store.ts'
import type { Store } from '../../functions/store/schema/store.ts'
import { isHeadSigned, rootOfLog } from '../../src/domain/receipts/verify-receipt.ts'
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
async function appendUntilKilled(
  { config }: StorePlace,
  { after = Number.POSITIVE_INFINITY, dies = '' },
): Promise<Line[]> {
  const { STATE_DIR, DATABASE_URL } = config
  const child = spawn(process.execPath, [SERVER], {
    env: { ...process.env, STATE_DIR, DATABASE_URL, DIES: dies },
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
    const servers = [{ after: KILLED_AFTER }, { dies: 'head' }, { dies: 'answer' }]
    const told = await Promise.all(servers.map((how) => appendUntilKilled(place, how)))
    expect(told.slice(1).map(({ length }) => length)).toEqual([2, 2])
    const lines = told.flat()
    const store = await openStore(place.config, silentLog)
    await appendReceipts(store, [aReceipt(0)])
    const entries = await readAll(store)
    const ids = new Set(entries.map(({ id }) => id))
    expect(ids.size).toBe(entries.length)
    for (const { ids: acknowledged, head } of lines) {
      expect(acknowledged.filter((id) => !ids.has(id))).toEqual([])
      expect(rootOfLog(entries.slice(0, head.size))).toBe(head.root)
    }
    // Heads that nobody was told of are of the same log.
    const heads = await store.db.selectFrom('receipt_head').select(['size', 'root']).execute()
    expect(heads.length).toBeGreaterThan(0)
    for (const { size, root } of heads) expect(rootOfLog(entries.slice(0, size))).toBe(root)
    await store.close()
  }, 120_000)

  test('goes on signing when its clock was set back, and no head is older than one before', async () => {
    const store = await newStore()
    let now = Date.now()
    const log = openReceipts({ store, clock: { now: () => now }, log: silentLog, baseUrl: BASE })
    for (const moved of [0, -86_400_000, HEAD_EVERY_MS + 1, 2 * 86_400_000]) {
      now += moved
      log.add(aReceipt(1))
      await log.written()
      await log.signHead()
    }
    const rows = store.db.selectFrom('receipt_head').select(['size', 'at']).orderBy('size')
    const heads = await rows.execute()
    expect(heads.map(({ size }) => size)).toEqual([1, 2, 3, 4])
    expect(heads.map(({ at }) => at)).toEqual(heads.map(({ at }) => at).toSorted((a, b) => a - b))
  })

  test('signs by no key that was rotated out while its clock was set back', async () => {
    const store = await newStore()
    let now = Date.now()
    const parts = { store, clock: { now: () => now }, log: silentLog, baseUrl: BASE }
    const log = openReceipts(parts)
    log.add(aReceipt(1))
    await log.written()
    await log.signHead()
    const { id } = await log.signers()
    now -= 86_400_000
    await rotateKeys(store, now)
    expect((await log.signers()).id).not.toBe(id)
    // And what was signed before stays good.
    const { head } = await readConsistency(store, null)
    const keys = await readReceiptKeys(store, { baseUrl: BASE, isOn: true })
    expect(head !== null && isHeadSigned(head, keys)).toBe(true)
  })

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
