import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, request as openRequest } from 'node:http'
import { join } from 'node:path'
import { getHeapSnapshot } from 'node:v8'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLog } from '../../functions/ports/log.ts'
import { findReceipt } from '../../functions/receipts/receipts.ts'
import { openStore } from '../../functions/store/open-store.ts'
import type { Store } from '../../functions/store/store.ts'
import { saltedHash } from '../../packages/client/cli/verify.ts'
import type { DeclaredRow } from '../../src/domain/derived/derived-listing.ts'
import { authorizationMarkOf } from '../../src/domain/relay/delivered.ts'
import { listen } from '../support/listen.ts'
import { IS_LONG, longTest } from '../support/long.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { CITIES, createLab, type LabSeller } from './lab.ts'
import {
  aNonce,
  aTransaction,
  PAYEE,
  PAYER,
  paymentHeaders,
  settledHeaders,
  startObservedRelay,
} from './observed-relay.ts'
import { readKept } from './receipt-samples.ts'

let dir: string
let store: Store
let lab: LabSeller[]
let world: Awaited<ReturnType<typeof startObservedRelay>>
let answered = 0
let origin = ''

/** One server is all sellers of the lab: the first part of the path says which. */
const server = createServer((req, res) => {
  const [, id = '', city = ''] = decodeURIComponent(req.url ?? '').split('/')
  const seller = lab.find((one) => one.id === id)
  if (seller === undefined) return void res.writeHead(404).end()
  answered += 1
  const { status, headers, chunks, isCut } = seller.answer(city.split('?')[0] ?? '')
  // It takes the money and names no transaction.
  const isSilent = city.includes('silent=')
  const settled = isSilent ? {} : settledHeaders(seller.rail, aTransaction(answered))
  res.writeHead(status, { ...headers, ...settled, 'Call-Receipt': 'https://seller.example/mine' })
  for (const chunk of chunks) res.write(chunk)
  if (isCut) res.destroy()
  else res.end()
})

const toRow = ({ id, call }: LabSeller): DeclaredRow => ({
  listing_id: id,
  digest: `digest-of-${id}`,
  method: 'GET',
  url: call.url,
  response: { ...call.response },
})

beforeAll(async () => {
  dir = tempFolder('receipts')
  store = await openStore(
    { STATE_DIR: dir, DATABASE_URL: undefined },
    createLog(() => {}, Date.now),
  )
  origin = `http://127.0.0.1:${await listen(server)}`
  lab = createLab(origin)
  world = await startObservedRelay(store, lab.map(toRow))
})
afterAll(async () => {
  await world.close()
  server.closeAllConnections()
  server.close()
  await store.close()
})

let bought = 0

async function buy(
  seller: LabSeller,
  city: string,
  headers: Record<string, string> = {},
  query = '',
) {
  bought += 1
  const path = encodeURIComponent(`/${seller.id}/${encodeURIComponent(city)}`)
  const payment = paymentHeaders(seller.rail, PAYER, PAYEE, aNonce(bought))
  const answer = await fetch(`${world.url}/${seller.id}?endpoint=${path}${query}`, {
    headers: { 'accept-encoding': 'gzip, deflate, br', ...payment, ...headers },
  })
  const body = Buffer.from(await answer.arrayBuffer().catch(() => new ArrayBuffer(0)))
  const receipt = answer.headers.get('call-receipt')
  return { answer, body, receipt, id: receipt?.split('/').at(-1) ?? '' }
}

/** The meter reads the payment of a call by its nonce. */
async function meter(nonce: number): Promise<void> {
  const network = 'eip155:84532'
  const mark = authorizationMarkOf({ network, payee: PAYEE, payer: PAYER }, aNonce(nonce)) ?? ''
  const row = {
    ...{ network, transaction_id: aTransaction(nonce + 1_000_000), log_index: 1, listing_id: '' },
    ...{ payer: PAYER, payee: PAYEE, micro_usd: 1_000, amount: '1000', settled_at: Date.now() },
    ...{ block_number: 7, scheme: 'eip3009' as const, authorization_hash: hash('sha256', mark) },
  }
  await store.db.insertInto('settlement').values(row).execute()
}

async function receiptOf(id: string) {
  await world.settle()
  return (await findReceipt(store, id))?.receipt ?? null
}

describe('two hundred sellers behind the relay, on both rails', () => {
  it('are judged as they are', { timeout: 120_000 }, async () => {
    const deliveries: { isGood: boolean; id: string; way: string }[] = []
    for (const city of IS_LONG ? CITIES : CITIES.slice(0, 1))
      for (let from = 0; from < lab.length; from += 20)
        deliveries.push(
          ...(await Promise.all(
            lab.slice(from, from + 20).map(async (seller) => ({
              ...seller,
              id: (await buy(seller, city)).id,
            })),
          )),
        )
    // Where the connection broke before the head, no transaction was named.
    await world.settle()
    for (let nonce = 1; nonce <= bought; nonce += 1) await meter(nonce)
    await world.receipts.findPayments()
    await world.settle()
    const kept = await readKept(store)
    const verdicts = new Map(kept.map(({ id, receipt }) => [id, JSON.parse(receipt).verdict]))
    const judged = deliveries.map(({ isGood, id, way }) => ({
      isGood,
      way,
      verdict: verdicts.get(id),
    }))
    expect(judged.filter(({ verdict }) => verdict === undefined)).toEqual([])
    const share = (isGood: boolean) => {
      const all = judged.filter((one) => one.isGood === isGood)
      return all.filter(({ verdict }) => verdict !== 'as_declared').length / all.length
    }
    console.log(`bad deliveries named bad: ${share(false)}; good ones named bad: ${share(true)}`)
    expect(share(false)).toBeGreaterThanOrEqual(0.95)
    expect(share(true)).toBeLessThan(0.01)
  })
})

describe('a receipt', () => {
  const right = () => lab[0] as LabSeller
  it('is named by the relay, whatever a seller writes', async () => {
    const { answer, receipt } = await buy(right(), 'Oslo')
    expect(receipt).toMatch(/^https:\/\/waypost\.example\/api\/v1\/receipts\/[\w-]{22}$/)
    expect(answer.headers.get('access-control-expose-headers')).toContain('Call-Receipt-Secret')
  })
  it('names request and answer by hashes that only the caller can recompute', async () => {
    const { answer, body, id } = await buy(
      right(),
      'Oslo',
      { 'accept-encoding': 'identity' },
      '&a=b',
    )
    const secret = answer.headers.get('call-receipt-secret') ?? ''
    const receipt = await receiptOf(id)
    expect(receipt).toMatchObject({ verdict: 'as_declared', status: 200, listing_id: right().id })
    expect(receipt?.answer).toBe(saltedHash(secret, body))
    const line = `GET /${right().id}/Oslo?a=b\n`
    expect(receipt?.request).toBe(saltedHash(secret, Buffer.from(line)))
    expect(receipt?.transaction).toMatch(/^0x[0-9a-f]{64}$/)
  })
  it.each([
    ['no payment', { 'X-PAYMENT': '', Authorization: '', 'PAYMENT-SIGNATURE': '' }],
    ['Call-Witness: off', { 'Call-Witness': 'off' }],
    ['a part of the answer', { Range: 'bytes=0-3' }],
    ['another type', { Accept: 'text/xml' }],
  ])('is not written for %s', async (_, headers) => {
    const plain = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''))
    const url = `${world.url}/${right().id}?endpoint=${encodeURIComponent(`/${right().id}/Oslo`)}`
    const payment = 'X-PAYMENT' in headers ? {} : paymentHeaders(right().rail)
    const answer = await fetch(url, { headers: { ...payment, ...plain } })
    expect(answer.headers.get('call-receipt')).toBeNull()
  })
  it('is written once the payment is found, where the answer names none', async () => {
    const bad = lab.filter(({ way }) => way === 'error inside' || way === '402 again').slice(8, 12)
    const calls: { id: string; nonce: number }[] = []
    for (const seller of bad)
      calls.push({ id: (await buy(seller, 'Oslo', {}, '&silent=1')).id, nonce: bought })
    expect(await Promise.all(calls.map(({ id }) => receiptOf(id)))).toEqual(bad.map(() => null))
    for (const { nonce } of calls.slice(0, -1)) await meter(nonce)
    await world.receipts.findPayments()
    const found = await Promise.all(calls.map(({ id }) => receiptOf(id)))
    expect(found.map((receipt) => receipt?.verdict)).toEqual([
      ...['error_in_200', 'error_in_200', 'payment_asked_again'],
      // Nobody paid for the last one.
      undefined,
    ])
    expect(found[0]?.transaction).toBe(aTransaction((calls[0]?.nonce ?? 0) + 1_000_000))
    expect((await readKept(store)).find(({ id }) => id === calls[0]?.id)?.is_named).toBe(0)
  })
  it('is of no buyer where a request names two', async () => {
    const paymentOf = async (headers: Record<string, string>) => {
      const { id } = await buy(right(), 'Oslo', headers)
      await world.settle()
      return (await readKept(store)).find((row) => row.id === id)?.payment_hash
    }
    const [own, other] = (['x402-v1', 'x402-v2'] as const).map((rail, n) =>
      paymentHeaders(rail, `0x${'a1b2'.repeat(10).slice(n * 2, n * 2 + 40)}`.padEnd(42, '0')),
    )
    expect(await paymentOf({})).toMatch(/^[0-9a-f]{64}$/)
    expect(await paymentOf({ ...own, ...other })).toBeNull()
  })
  it('is written for nobody where RECEIPTS is off', async () => {
    const off = await startObservedRelay(store, lab.slice(0, 1).map(toRow), { RECEIPTS: 'off' })
    const path = encodeURIComponent(`/${right().id}/Oslo`)
    const answer = await fetch(`${off.url}/${right().id}?endpoint=${path}`, {
      headers: paymentHeaders(right().rail),
    })
    expect([answer.status, answer.headers.get('call-receipt')]).toEqual([200, null])
    await off.close()
  })
  it('blames nobody where the caller left in the middle', async () => {
    const cut = lab.find(({ way }) => way === 'created, and long') as LabSeller
    const before = await readKept(store)
    await new Promise<void>((resolve) => {
      const path = `/api/v1/call/${cut.id}?endpoint=${encodeURIComponent(`/${cut.id}/Oslo`)}`
      const requested = openRequest({ port: world.port, path, headers: paymentHeaders(cut.rail) })
      requested.on('response', (answer) => {
        answer.destroy()
        resolve()
      })
      requested.on('error', () => resolve())
      requested.end()
    })
    await new Promise((resolve) => setTimeout(resolve, 100))
    await world.settle()
    const after = await readKept(store)
    for (const { receipt } of after.slice(before.length))
      expect(JSON.parse(receipt).verdict).toBe('as_declared')
  })
})

describe('nothing is kept', () => {
  longTest(
    'of what was asked and answered: not in ledger, log, files or memory',
    {
      timeout: 120_000,
    },
    async () => {
      // Put together here, so that neither this file's own text nor the lab's holds it.
      const marker = ['PLANTED', 'k7', 'q2'].join('-')
      for (const seller of lab.filter(({ id }) => id.endsWith('-weather')))
        await buy(seller, marker, { 'X-Asked': marker }, `&also=${marker}`)
      await world.settle()
      await readKept(store)
      for (const file of readdirSync(dir))
        expect(readFileSync(join(dir, file)).includes(marker), file).toBe(false)
      expect(world.logged().join('\n')).not.toContain(marker)
      const never = ['PLANTED', 'k7', 'never-sent'].join('-')
      const [ofSent = 1, ofNever = 0] = await countInHeap([marker, never])
      expect(ofSent).toBeLessThanOrEqual(ofNever)
    },
  )
})

/**
 * Strings of the heap that hold each text, other than those that are looked for: of one picture of the
 * heap, which takes seconds.
 */
async function countInHeap(texts: readonly string[]): Promise<number[]> {
  globalThis.gc?.()
  const whole: Buffer[] = []
  for await (const chunk of getHeapSnapshot()) whole.push(chunk)
  const bytes = Buffer.concat(whole)
  // They are the last member of the picture.
  const start = bytes.lastIndexOf('"strings":[')
  const { strings } = JSON.parse(`{${bytes.subarray(start).toString('utf8')}`)
  const others = strings.filter((each: string) => !texts.includes(each))
  expect(others.length).toBeGreaterThan(1000)
  return texts.map((text) => others.filter((each: string) => each.includes(text)).length)
}
