import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { readReceiptDays } from '../../functions/receipts/read-receipts.ts'
import {
  createSigner,
  insertReceipts,
  type NewReceipt,
  readReceiptKeys,
} from '../../functions/receipts/receipts.ts'
import { openStore } from '../../functions/store/open-store.ts'
import type { Store } from '../../functions/store/store.ts'
import { saltedHash } from '../../packages/client/cli/verify.ts'
import { toSignedReceipt } from '../../src/domain/relay/receipt.ts'
import { aReceipt } from '../receipts/receipt-samples.ts'
import { clientHere } from '../support/client-here.ts'
import { listen } from '../support/listen.ts'
import { silentLog } from '../support/stores.ts'
import { tempFolder } from '../support/temp-folder.ts'

const DAY = 86_400_000
const NOON = Date.UTC(2026, 10, 20, 12)
const SECRET = 'c2VjcmV0'
const ANSWER = '{"city":"Oslo"}'

let store: Store
let server: Server
let folder: string
let base: string
/** What the directory serves, by path. */
let served: Record<string, unknown> = {}
const bought = aReceipt(1, NOON)
const receipts: NewReceipt[] = [
  {
    ...bought,
    receipt: { ...bought.receipt, answer: saltedHash(SECRET, Buffer.from(ANSWER)) },
  },
  ...Array.from({ length: 5 }, (_, n) => aReceipt(n + 2, NOON + n * 60_000)),
]
const [own = bought] = receipts
const { id } = own.receipt

beforeAll(async () => {
  folder = tempFolder('verify')
  store = await openStore({ STATE_DIR: folder, DATABASE_URL: undefined }, silentLog)
  await insertReceipts(store, receipts)
  server = createServer((req, res) => {
    const found = served[req.url ?? '']
    if (found === undefined) return void res.writeHead(404).end('{"detail":"Not yet."}')
    res.end(typeof found === 'string' ? found : JSON.stringify(found))
  })
  base = `http://127.0.0.1:${await listen(server)}`
  writeFileSync(join(folder, 'answer.json'), ANSWER)
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await store.close()
})
beforeEach(() => publish(NOON + DAY))

/** The directory at a moment, with what its last build published. */
async function publish(now: number): Promise<void> {
  const { id: key, sign } = await createSigner(store, { now: () => now })()
  const days = await readReceiptDays(store, now)
  served = {
    '/.well-known/receipt-keys.json': await readReceiptKeys(store, true),
    '/api/v1/receipts/days.json': { days: days.map(({ file: _, ...day }) => day) },
    ...Object.fromEntries(days.map(({ day, file }) => [`/api/v1/receipts/${day}.txt`, file])),
    ...Object.fromEntries(
      receipts.map(({ receipt }) => [
        `/api/v1/receipts/${receipt.id}`,
        { receipt, key, signature: sign(toSignedReceipt(receipt)) },
      ]),
    ),
  }
}

async function verify(...args: string[]): Promise<{ code: number; stated: string }> {
  const { code, stdout, stderr } = await clientHere(['verify', ...args, '--base', base])
  return { code, stated: stdout + stderr }
}

test('a receipt whose day is published is verified, with its answer, by id or address', async () => {
  const answer = ['--secret', SECRET, '--answer', join(folder, 'answer.json')]
  expect(await verify(`${base}/api/v1/receipts/${id}`, ...answer)).toMatchObject({ code: 0 })
  const { code, stated } = await verify(id, ...answer, '--json')
  expect([code, JSON.parse(stated)]).toMatchObject([
    0,
    {
      ...{ day: 'published', ok: true, receipt: { id } },
      checks: {
        isRequested: true,
        isSigned: true,
        isDaySigned: true,
        isInDay: true,
        isAnswer: true,
      },
    },
  ])
  const other = await verify(id, '--secret', SECRET, '--answer', 'package.json')
  expect([other.code, other.stated]).toEqual([
    1,
    expect.stringContaining('NO: it belongs to this answer'),
  ])
})

test('a secret that begins with a dash is a secret, and a forgotten one is named', async () => {
  const answer = ['--answer', join(folder, 'answer.json')]
  const dashed = await verify(id, `--secret=-${SECRET.slice(1)}`, ...answer)
  expect([dashed.code, dashed.stated]).toEqual([
    1,
    expect.stringContaining('NO: it belongs to this answer'),
  ])
  const forgotten = await verify(id, '--secret', ...answer)
  expect([forgotten.code, forgotten.stated]).toEqual([2, expect.stringContaining("'--secret'")])
})

test('one whose day is not published yet says so, and is right all the same', async () => {
  await publish(NOON + 60_000)
  const { code, stated } = await verify(id)
  expect([code, stated]).toEqual([
    0,
    expect.stringContaining('not yet: a build publishes 2026-11-20'),
  ])
  expect(stated).not.toContain('NO:')
})

test('one that is not there yet is an error that says what to expect', async () => {
  expect(await verify('A'.repeat(22))).toMatchObject({
    ...{ code: expect.toSatisfy((code) => code !== 0) },
    stated: expect.stringContaining('Not yet.'),
  })
})

type Hostile = [name: string, forge: () => Promise<void> | void, says: string]
const HOSTILE: Hostile[] = [
  [
    'another verdict than was signed',
    () => {
      const path = `/api/v1/receipts/${id}`
      const view = served[path] as { receipt: object }
      served[path] = { ...view, receipt: { ...view.receipt, verdict: 'empty' } }
    },
    'NO: signed by a key of the directory',
  ],
  [
    'another receipt than was asked for',
    () => {
      served[`/api/v1/receipts/${id}`] = served[`/api/v1/receipts/${receipts[2]?.receipt.id}`]
    },
    'NO: it has the requested id',
  ],
  [
    'a day that was published without it',
    async () => {
      const kept = served[`/api/v1/receipts/${id}`]
      await store.db.deleteFrom('receipt').where('id', '=', id).execute()
      await publish(NOON + DAY)
      await insertReceipts(store, [own])
      served[`/api/v1/receipts/${id}`] = kept
    },
    'NO: the file of its day contains it',
  ],
  [
    'a file that it was written into later',
    () => {
      const path = '/api/v1/receipts/2026-11-20.txt'
      served[path] = `${served[path]}${'0'.repeat(64)}\n`
    },
    'NO: the file of its day is signed',
  ],
  [
    'a day that later ones have overtaken',
    () => {
      const { days } = served['/api/v1/receipts/days.json'] as { days: { day: string }[] }
      const later = days.map((day) => ({ ...day, day: '2026-11-21' }))
      served['/api/v1/receipts/days.json'] = { days: later }
    },
    'NO: the file of its day contains it',
  ],
]

test.each(HOSTILE)('%s is found', async (_, forge, says) => {
  await forge()
  const { code, stated } = await verify(id)
  expect([code, stated]).toEqual([1, expect.stringContaining(says)])
})
