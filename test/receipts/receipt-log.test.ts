import { expect, it } from 'vitest'
import { openReceipts } from '../../functions/receipts/log/open-receipts.ts'
import {
  readConsistency,
  readEntries,
  readReceipt,
} from '../../functions/receipts/log/read-receipts.ts'
import { readReceiptKeys, rotateKeys } from '../../functions/receipts/log/receipt-keys.ts'
import {
  appendReceipts,
  fromHex,
  HEAD_EVERY_MS,
  sha256,
  toHex,
} from '../../functions/receipts/log/receipt-log.ts'
import type { Store } from '../../functions/store/schema/store.ts'
import {
  appendLeaves,
  foldPeaks,
  isConsistent,
  leafHash,
} from '../../src/domain/receipts/merkle-log.ts'
import { type Receipt, toLeaf, toSignedHead } from '../../src/domain/receipts/receipt.ts'
import {
  extendsHead,
  isHeadSigned,
  verifyReceipt,
} from '../../src/domain/receipts/verify-receipt.ts'
import { describeStores, silentLog } from '../support/stores.ts'
import { aReceipt, BASE, readKept } from './receipt-samples.ts'

const named = { baseUrl: BASE, isOn: true }

const rootOf = (receipts: readonly Receipt[]) => {
  const leaves = receipts.map((receipt) => leafHash(sha256, toLeaf(receipt)))
  return foldPeaks(sha256, appendLeaves(sha256, { size: 0, peaks: [] }, leaves).peaks)
}

function open(store: Store) {
  let now = Date.now()
  const receipts = openReceipts({ store, clock: { now: () => now }, log: silentLog, baseUrl: BASE })
  const sign = async () => {
    now += HEAD_EVERY_MS + 1
    await receipts.signHead()
  }
  return { ...receipts, sign }
}

describeStores('the log of receipts', ({ newStore, newPlace: _ }) => {
  it('proves each receipt, and that each head extends those before', async () => {
    const store = await newStore()
    const log = open(store)
    const heads = []
    for (const size of [1, 2, 5, 9, 40, 150]) {
      for (let n = 0; n < size; n += 1) log.add(aReceipt(n))
      await log.written()
      await log.sign()
      heads.push((await readConsistency(store, null)).head)
    }
    const keys = await readReceiptKeys(store, named)
    const entries = await readEntries(store, 0)
    expect(entries).toHaveLength(207)
    for (const { id } of entries) {
      const view = await readReceipt(store, id, await log.signers())
      if (view === null) throw new Error('expected it')
      expect(verifyReceipt(view, keys)).toEqual({
        isSigned: true,
        isHeadSigned: true,
        isInLog: true,
      })
    }
    for (const head of heads) {
      if (head === null) throw new Error('expected a head')
      expect(isHeadSigned(head, keys)).toBe(true)
      expect(toHex(rootOf(entries.slice(0, head.size)))).toBe(head.root)
      const { head: newest, consistency = [] } = await readConsistency(store, head.size)
      expect(newest !== null && extendsHead(head, newest, consistency)).toBe(true)
    }
  })

  it('gathers what comes while it writes: no row of its own for each call of a busy moment', async () => {
    const store = await newStore()
    const log = open(store)
    log.add(aReceipt(1))
    const written = log.written()
    for (let n = 2; n < 66; n += 1) log.add(aReceipt(n))
    await written
    expect(await readKept(store)).toHaveLength(1)
    await log.close()
    expect(await readKept(store)).toHaveLength(65)
    expect(await store.db.selectFrom('receipt_page').select('position').execute()).toHaveLength(2)
  })

  it('is one log, whoever appends at once, and whatever is sent twice', async () => {
    const store = await newStore()
    const batches = Array.from({ length: 12 }, (_, b) => [aReceipt(b), aReceipt(b + 100)])
    await Promise.all(batches.map((batch) => appendReceipts(store, batch)))
    await appendReceipts(store, batches[3] ?? [])
    const log = open(store)
    await log.sign()
    const entries = await readEntries(store, 0)
    expect(entries).toHaveLength(24)
    const { head } = await readConsistency(store, null)
    expect(head).toMatchObject({ size: 24, root: toHex(rootOf(entries)) })
  })

  it('keeps keys that were rotated out, without their secret', async () => {
    const store = await newStore()
    const log = open(store)
    log.add(aReceipt(1))
    await log.written()
    await log.sign()
    const { head } = await readConsistency(store, null)
    const stolen = await log.signers()
    await rotateKeys(store, Date.now() + 10 * HEAD_EVERY_MS)
    const keys = await readReceiptKeys(store, named)
    expect(keys.keys.map(({ until }) => until !== undefined)).toEqual([true, false])
    expect(head !== null && isHeadSigned(head, keys)).toBe(true)
    const later = Date.now() + 20 * HEAD_EVERY_MS
    const forged = { size: 9, root: '0'.repeat(64), at: new Date(later).toISOString() }
    const signature = stolen.sign(toSignedHead(keys.log, forged))
    expect(isHeadSigned({ ...forged, key: stolen.id, signature }, keys)).toBe(false)
    const secrets = await store.db.selectFrom('receipt_key').select('secret').execute()
    expect(secrets.filter(({ secret }) => secret === null)).toHaveLength(1)
  })
})

it('shows what was rewritten, dropped, reordered or forked, in each of a thousand tries', () => {
  const receipts = Array.from({ length: 64 }, (_, n) => aReceipt(n).receipt)
  const draw = (most: number) => Math.floor(Math.random() * most)
  for (let turn = 0; turn < 1000; turn += 1) {
    const size = 2 + draw(62)
    const from = 1 + draw(size - 1)
    const at = draw(from)
    const forged = receipts.slice(0, size)
    const [one, other] = [forged[at], forged[(at + 1) % size]]
    if (one === undefined || other === undefined) throw new Error('expected two receipts')
    const kind = turn % 4
    if (kind === 0) forged[at] = { ...one, verdict: 'empty' }
    else if (kind === 1) forged.splice(at, 1)
    else if (kind === 2) [forged[at], forged[(at + 1) % size]] = [other, one]
    else
      forged.splice(
        at,
        size - at,
        ...receipts.slice(at, size).map((each) => ({ ...each, ms: each.ms + 1 })),
      )
    const older = { size: from, root: rootOf(receipts.slice(0, from)) }
    const newer = { size: forged.length, root: rootOf(forged) }
    // Whoever forges may try any proof: here the honest log's, and that of the forged one.
    for (const proof of [
      proofOf(receipts, from, forged.length),
      proofOf(forged, from, forged.length),
    ])
      expect(isConsistent(sha256, older, newer, proof), `turn ${turn}`).toBe(false)
  }
})

function proofOf(receipts: readonly Receipt[], from: number, size: number): Uint8Array[] {
  const path = (start: number, end: number, m: number, isComplete: boolean): Uint8Array[] => {
    const hash = () => rootOf(receipts.slice(start, end))
    if (m === end - start) return isComplete ? [] : [hash()]
    let k = 1
    while (k * 2 < end - start) k *= 2
    return m <= k
      ? [...path(start, start + k, m, isComplete), rootOf(receipts.slice(start + k, end))]
      : [...path(start + k, end, m - k, false), rootOf(receipts.slice(start, start + k))]
  }
  return from >= size ? [] : path(0, size, from, true)
}

it('accepts the honest log in each of a thousand tries', () => {
  const receipts = Array.from({ length: 40 }, (_, n) => aReceipt(n).receipt)
  for (let size = 1; size <= 40; size += 1)
    for (let from = 1; from <= size; from += 1) {
      const older = { size: from, root: rootOf(receipts.slice(0, from)) }
      const newer = { size, root: rootOf(receipts.slice(0, size)) }
      expect(isConsistent(sha256, older, newer, proofOf(receipts, from, size))).toBe(true)
    }
  expect(toHex(fromHex('00ff'))).toBe('00ff')
})
