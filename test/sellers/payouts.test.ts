import { generateKeyPairSync, sign } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { bytesToHex } from '@noble/hashes/utils.js'
import nacl from 'tweetnacl'
import { decodeFunctionData, type Hex, hashMessage, parseAbi, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  hashPersonalText,
  isSignedBySolana,
  recheckContracts,
  recoverSigner,
} from '../../functions/sellers/payouts.ts'
import { readLedgerFacts } from '../../functions/service/ledger-facts.ts'
import { listen } from '../support/listen.ts'
import { liveListing } from '../support/live-listing.ts'
import { describeStores } from '../support/stores.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'
import { ALL_LIMITS_OFF, openWorld, type World } from '../support/world.ts'

/** Wallets of the libraries that sellers' wallets are made with: nothing of ours signs here. */
const WALLET = privateKeyToAccount(toHex(Uint8Array.from({ length: 32 }, (_, n) => n + 1)))
const OTHER_WALLET = privateKeyToAccount(toHex(Uint8Array.from({ length: 32 }, (_, n) => n + 7)))
const SOLANA_WALLET = nacl.sign.keyPair.fromSeed(Uint8Array.from({ length: 32 }, (_, n) => n + 3))
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'

const signText = (message: string, wallet = WALLET) => wallet.signMessage({ message })
const ADDRESS = WALLET.address.toLowerCase()
const PAYOUT = `eip155:8453:${ADDRESS}`

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
function toBase58(bytes: Uint8Array): string {
  let value = BigInt(`0x${bytesToHex(bytes)}`)
  let text = ''
  for (; value > 0n; value /= 58n) text = (ALPHABET[Number(value % 58n)] ?? '') + text
  // Each zero byte in front is a digit of its own.
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(zeros) + text
}

describe('whose signature it is', () => {
  test('a published example of EIP-191', () => {
    const signature =
      '0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c'
    const text = 'Some data'
    expect(bytesToHex(hashPersonalText(text))).toBe(
      '1da44b586eb0729ff70a73c326926f6ed5a25f5b056e7f47fbc6e58d86871655',
    )
    expect(recoverSigner(text, signature)).toBe('0x2c7536e3605d9c16a7a3d7b1898e529396a65c23')
    expect(recoverSigner('Other data', signature)).not.toBe(
      '0x2c7536e3605d9c16a7a3d7b1898e529396a65c23',
    )
    // The same signature with s on the other side of the order: whoever saw the first can write it.
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const s = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
    const v = signature.endsWith('1c') ? '1b' : '1c'
    expect(recoverSigner(text, `${signature.slice(0, 66)}${s}${v}`)).toBe(null)
  })

  test.each([
    '',
    '0x',
    `0x${'00'.repeat(65)}`,
    `0x${'ff'.repeat(65)}`,
    `0x${'11'.repeat(64)}1d`,
    `0x${'11'.repeat(66)}`,
    'x'.repeat(132),
  ])('%s is nobody’s', (signature) => {
    expect(recoverSigner('text', signature)).toBe(null)
  })

  test('ed25519, as another library signs', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
    const address = toBase58(raw)
    const signature = toBase58(sign(null, Buffer.from('text'), privateKey))
    expect(isSignedBySolana('text', address, signature)).toBe(true)
    expect(isSignedBySolana('other', address, signature)).toBe(false)
    for (const wrong of ['', '0', 'l', '1'.repeat(64), 'z'.repeat(10_000)])
      expect(isSignedBySolana('text', address, wrong)).toBe(false)
  })

  test('a key of small order signs nothing', () => {
    const neutral = toBase58(Uint8Array.from([1, ...Array(31).fill(0)]))
    const everything = toBase58(Uint8Array.from([1, ...Array(63).fill(0)]))
    expect(isSignedBySolana('text', neutral, everything)).toBe(false)
  })
})

describeStores('proving a payout', ({ newPlace }) => {
  let world: World
  let node: Server
  let answers: Record<string, unknown>
  let requested: { method: string; params: [{ to: string; data: Hex }] }[] = []
  let ann: Visitor
  let bob: Visitor
  let claimId: string

  beforeAll(async () => {
    node = createServer(async (req, res) => {
      const { method, params } = JSON.parse(await readText(req))
      requested.push({ method, params })
      const result = answers[method]
      const body = result === undefined ? { error: { code: 3 } } : { result }
      res.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }))
    })
    const port = await listen(node)
    const { config } = await newPlace()
    world = await openWorld({
      env: {
        ...config,
        RATE_LIMITS: ALL_LIMITS_OFF,
        RPC_URLS: JSON.stringify({ 'eip155:8453': `http://127.0.0.1:${port}` }),
      },
      listings: [liveListing('x402.shop', 'https://api.shop.example/v1')],
    })
    ann = createVisitor(world)
    bob = createVisitor(world)
    await ann.signIn('ann@shop.example')
    await bob.signIn('bob@rival.example')
    const started = await ann.post('/claim', { listing_id: 'x402.shop', method: 'contact_email' })
    claimId = (await started.json()).claim.id
    await ann.post(`/claim/${claimId}/check`, undefined)
  })
  afterAll(async () => {
    await world.close()
    node.close()
  })
  beforeEach(async () => {
    answers = { eth_getCode: '0x' }
    requested = []
    await world.parts.ledger.store.db.deleteFrom('payout_proof').execute()
    await world.parts.ledger.store.db.deleteFrom('payout_challenge').execute()
  })

  const start = async (payout = PAYOUT) => {
    const answer = await ann.post('/payout', { listing_id: 'x402.shop', payout })
    expect(answer.status).toBe(200)
    const { challenge } = await answer.json()
    return String(challenge)
  }
  const check = async (signature: string, payout = PAYOUT) => {
    const answer = await ann.post('/payout/check', { listing_id: 'x402.shop', payout, signature })
    expect(answer.status).toBe(200)
    return answer.json()
  }
  const proven = async () => {
    const facts = await readLedgerFacts(world.parts.ledger.store, world.clock.now())
    return facts.provenPayouts.get('x402.shop')
  }

  test('the wallet’s signature of our text proves it, and the next build knows', async () => {
    const challenge = await start()
    for (const part of [world.url, 'Listing: x402.shop', `Payout: ${PAYOUT}`, 'moves nothing'])
      expect(challenge).toContain(part)
    expect(await proven()).toBeUndefined()
    const checked = await check(await signText(challenge))
    expect(checked).toMatchObject({
      verified: true,
      observed: ADDRESS,
      payout: { payout: PAYOUT, state: 'proven', proven_at: expect.any(String) },
    })
    expect(await proven()).toEqual([PAYOUT])
  })

  test('a signature works once', async () => {
    const signature = await signText(await start())
    const answers = await Promise.all([check(signature), check(signature), check(signature)])
    expect(answers.filter(({ verified }) => verified)).toHaveLength(1)
    expect(await check(signature)).toMatchObject({ verified: false, observed: null })
  })

  test('a challenge ends after fifteen minutes, and when a newer one is asked for', async () => {
    const old = await start()
    await start()
    expect(await check(await signText(old))).toMatchObject({ verified: false })
    const late = await start()
    world.clock.move(15 * 60_000)
    expect(await check(await signText(late))).toMatchObject({ verified: false, observed: null })
    world.clock.move(-15 * 60_000)
    expect(await proven()).toBeUndefined()
  })

  test('another wallet’s signature proves nothing, and the answer says whose it was', async () => {
    const challenge = await start()
    const checked = await check(await signText(challenge, OTHER_WALLET))
    expect(checked).toMatchObject({ verified: false, payout: { state: 'unproven' } })
    expect(checked.observed).toMatch(/a signature by 0x[0-9a-f]{40}/)
    expect((await check(await signText(challenge))).verified).toBe(true)
  })

  test('a wallet that is a contract says itself what it signed', async () => {
    const challenge = await start()
    const yes = `0x1626ba7e${'0'.repeat(56)}`
    answers = { eth_getCode: '0x', eth_call: yes }
    expect((await check('0x1234')).verified).toBe(false)
    answers = { eth_getCode: '0x6080', eth_call: `0xffffffff${'0'.repeat(56)}` }
    expect((await check('0x1234')).verified).toBe(false)
    answers = { eth_getCode: '0x6080' }
    expect((await check('0x1234')).verified).toBe(false)
    answers = { eth_getCode: '0x6080', eth_call: yes }
    expect(await check('0x1234')).toMatchObject({ verified: true })
    const [call] = requested.findLast(({ method }) => method === 'eth_call')?.params ?? []
    expect(call?.to).toBe(ADDRESS)
    const abi = parseAbi(['function isValidSignature(bytes32, bytes) view returns (bytes4)'])
    expect(decodeFunctionData({ abi, data: call?.data ?? '0x' })).toEqual({
      functionName: 'isValidSignature',
      args: [hashMessage(challenge), '0x1234'],
    })
  })

  test('a contract is asked again each week; only its own no ends the proof, with a mail', async () => {
    const yes = `0x1626ba7e${'0'.repeat(56)}`
    const agrees = { eth_getCode: '0x6080', eth_call: yes }
    answers = agrees
    await start()
    expect(await check('0x1234')).toMatchObject({ verified: true })
    const turn = () => recheckContracts(world.parts)
    expect(await turn()).toEqual({ checked: 0, ended: 0 })
    world.clock.move(8 * 86_400_000)
    // A node that fails, that lost the contract, or that refuses for reasons of its own.
    for (const failing of [{ eth_getCode: 7 }, { eth_getCode: '0x' }, { ...agrees, eth_call: 7 }]) {
      answers = failing
      expect(await turn()).toEqual({ checked: 0, ended: 0 })
    }
    answers = agrees
    expect(await turn()).toEqual({ checked: 1, ended: 0 })
    expect(await turn()).toEqual({ checked: 0, ended: 0 })
    expect(await proven()).toEqual([PAYOUT])
    world.clock.move(8 * 86_400_000)
    answers = { eth_getCode: '0x6080' }
    expect(await turn()).toEqual({ checked: 1, ended: 1 })
    expect(await proven()).toBeUndefined()
    await world.parts.ledger.mails.send()
    expect(world.mails.at(-1)).toMatchObject({
      to: 'ann@shop.example',
      subject: 'A payout of x402.shop has lost its proof',
      text: expect.stringContaining(`the contract at ${PAYOUT} no longer accepts the signature`),
    })
    world.clock.move(-16 * 86_400_000)
  })

  test('a key’s own signature is not asked for again', async () => {
    await check(await signText(await start()))
    world.clock.move(8 * 86_400_000)
    requested = []
    expect(await recheckContracts(world.parts)).toEqual({ checked: 0, ended: 0 })
    expect(requested).toEqual([])
    world.clock.move(-8 * 86_400_000)
  })

  test('a Solana wallet signs the text’s bytes', async () => {
    const payout = `${SOLANA}:${toBase58(SOLANA_WALLET.publicKey)}`
    const challenge = await start(payout)
    const signed = nacl.sign.detached(Buffer.from(challenge), SOLANA_WALLET.secretKey)
    expect((await check(toBase58(signed), payout)).verified).toBe(true)
    expect(await proven()).toEqual([payout])
  })

  test('the owner sees which payouts are known, which count and which are proven', async () => {
    const contested = `eip155:137:${ADDRESS}`
    const listing = liveListing('x402.shop', 'https://api.shop.example/v1')
    const known = { ...listing, payout: [PAYOUT], payout_contested: [contested] }
    world.listings.set('x402.shop', known)
    const other = `${SOLANA}:${toBase58(SOLANA_WALLET.publicKey)}`
    await check(await signText(await start(contested)), contested)
    const challenge = await start(other)
    const signed = nacl.sign.detached(Buffer.from(challenge), SOLANA_WALLET.secretKey)
    await check(toBase58(signed), other)
    const { payouts, unlisted } = await (await ann.get('/me')).json()
    const listing_id = 'x402.shop'
    expect(payouts).toEqual([
      { listing_id, payout: PAYOUT, published: true, counts: true },
      {
        listing_id,
        payout: contested,
        published: true,
        counts: false,
        proven_at: expect.any(String),
      },
      { listing_id, payout: other, published: false, counts: false, proven_at: expect.any(String) },
    ])
    expect(unlisted).toEqual([])
    expect((await (await bob.get('/me')).json()).payouts).toEqual([])
    world.listings.set('x402.shop', listing)
  })

  test('who holds no verified claim of the listing learns nothing of it', async () => {
    const body = { payout: PAYOUT, signature: '0x00' }
    const foreign = await bob.post('/payout/check', { listing_id: 'x402.shop', ...body })
    const missing = await bob.post('/payout/check', { listing_id: 'x402.none', ...body })
    expect([foreign.status, missing.status]).toEqual([404, 404])
    expect(await foreign.text()).toBe(await missing.text())
    const start = await bob.post('/payout', { listing_id: 'x402.shop', payout: PAYOUT })
    expect(start.status).toBe(404)
  })

  test('a proof is withdrawn alone, and its challenge with it', async () => {
    const withdraw = (visitor: Visitor, body: object) =>
      visitor.send('DELETE', '/payout', {
        body: JSON.stringify(body),
        headers: { 'Content-Type': 'application/json' },
      })
    const own = { listing_id: 'x402.shop', payout: PAYOUT }
    const other = `eip155:137:${ADDRESS}`
    await check(await signText(await start(other)), other)
    await check(await signText(await start()))
    const waiting = await start()
    const foreign = await withdraw(bob, own)
    expect([foreign.status, (await foreign.json()).code]).toEqual([404, 'listing-not-found'])
    expect((await withdraw(ann, { ...own, payout: 'x' })).status).toBe(400)
    expect(await proven()).toEqual([other, PAYOUT])
    for (const payout of [`eip155:8453:${WALLET.address}`, PAYOUT]) {
      const answer = await withdraw(ann, { ...own, payout })
      expect(answer.status).toBe(200)
      expect(await answer.json()).toEqual({ payout, state: 'unproven' })
    }
    expect(await proven()).toEqual([other])
    expect(await check(await signText(waiting))).toMatchObject({ verified: false, observed: null })
    expect(await proven()).toEqual([other])
  })

  test('a proof ends with its claim', async () => {
    const { db } = world.parts.ledger.store
    await check(await signText(await start()))
    await db.updateTable('claim').set({ state: 'lapsed' }).where('id', '=', claimId).execute()
    expect(await proven()).toBeUndefined()
    await db.updateTable('claim').set({ state: 'verified' }).where('id', '=', claimId).execute()
  })

  test.each([
    ['payout', { payout: 'eip155:8453:0x12', signature: '0x00' }],
    ['signature', { payout: PAYOUT, signature: '' }],
    ['signature', { payout: PAYOUT, signature: 'x'.repeat(8193) }],
    ['signatur', { payout: PAYOUT, signature: '0x00', signatur: 'x' }],
  ])('a bad %s is named', async (name, body) => {
    const answer = await ann.post('/payout/check', { listing_id: 'x402.shop', ...body })
    expect(answer.status).toBe(400)
    expect((await answer.json()).errors).toMatchObject([{ name }])
  })
})
