import { createServer, type ServerResponse } from 'node:http'
import { toLockEntry } from '../../packages/client/cli/pins.ts'
import type { Lock } from '../../packages/client/src/lock.ts'
import { toCompactKit } from '../../src/domain/kit/found-operations.ts'
import type { KitView } from '../../src/domain/kit/kit-view.ts'
import type { Evidence } from '../../src/domain/trust/evidence.ts'
import { aListing, type RelayWorld, startRelay } from '../call/relay-world.ts'
import { toKit, toListing } from '../domain/listing-samples.ts'
import { listen } from '../support/listen.ts'
import { startSite } from '../support/site.ts'

/** A seller of tides, the directory that lists it, and the directory's relay: all on loopback. */
export interface PinnedWorld {
  url: string
  origin: string
  /** What the directory says; a test may say something else from the next call on. */
  front: Record<string, unknown>
  evidence: Evidence
  isListed: boolean
  /** What the seller's 402 asks for. */
  offers: object[]
  /** Answers an unpaid call in another way. */
  answer: ((res: ServerResponse) => void) | null
  kit(): KitView
  /** Payments that reached the seller. */
  paid: string[]
  /** All as it was at first. */
  reset(): void
  close(): Promise<void>
}

export const NETWORK = 'eip155:84532'
export const COIN = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
export const PAYEE = '0x1111111111111111111111111111111111111111'
export const THIEF = '0x2222222222222222222222222222222222222222'
export const ID = 'x402.seller'

export const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
export const offer = (changes: object = {}) => ({
  ...{ scheme: 'exact', network: NETWORK, asset: COIN, payTo: PAYEE, amount: '10000' },
  maxTimeoutSeconds: 60,
  ...changes,
})

/** Signs nothing: it takes the first offer, as a wallet would, and says what it would sign. */
export const wallet = {
  createPaymentPayload: async ({
    accepts: [accepted],
  }: {
    accepts: ReturnType<typeof offer>[]
  }) => ({
    ...{ x402Version: 2, accepted },
    payload: { authorization: { to: accepted?.payTo, value: accepted?.amount } },
  }),
}

export async function startPinnedWorld(): Promise<PinnedWorld> {
  const seller = await startSite((req, res) => {
    const payment = req.headers['payment-signature']
    if (typeof payment === 'string') {
      world.paid.push(payment)
      return void res.end('{"tide":"high"}')
    }
    if (world.answer !== null) return world.answer(res)
    const terms = { x402Version: 2, resource: { url: seller.url }, accepts: world.offers }
    res.writeHead(402, { 'payment-required': encode(terms) }).end('{}')
  })
  let relay: RelayWorld | undefined
  const server = createServer(async (req, res) => {
    if (!req.url?.startsWith('/api/v1/call/')) return serveKit(res, req.url ?? '')
    await relay?.close()
    relay = await startRelay({
      listings: world.isListed
        ? [aListing(String(world.front.url), { digest: world.kit().digest })]
        : [],
    })
    const headers = Object.entries(req.headers).map(([name, value]) => [name, String(value)])
    const kept = headers.filter(([name]) => name !== 'host' && name !== 'connection')
    const answer = await fetch(`http://127.0.0.1:${relay.port}${req.url}`, {
      method: req.method ?? 'GET',
      headers: Object.fromEntries(kept),
    })
    res.writeHead(answer.status, Object.fromEntries(answer.headers))
    res.end(Buffer.from(await answer.arrayBuffer()))
  })
  function serveKit(res: ServerResponse, url: string) {
    const operation = new URL(url, 'http://x').searchParams.get('operation')
    const kit = operation === null ? world.kit() : toCompactKit(world.kit(), { operation })
    const status = world.isListed ? (kit === null ? 400 : 200) : 410
    const body = status === 200 ? kit : { code: 'listing-gone', detail: 'It was withdrawn.' }
    res.writeHead(status, { 'content-type': 'application/json' })
    res.end(JSON.stringify(body))
  }
  const port = await listen(server)
  const first = () => ({
    ...{ front: frontOf(seller.url), evidence: {}, isListed: true },
    ...{ offers: [offer()], answer: null, paid: [] },
  })
  const world: PinnedWorld = {
    url: `http://127.0.0.1:${port}`,
    origin: seller.url,
    ...first(),
    reset: () => void Object.assign(world, first()),
    kit: () => kitOf(world),
    async close() {
      await relay?.close()
      await seller.close()
      await new Promise((closed) => server.close(closed))
    },
  }
  return world
}

export function frontOf(origin: string): Record<string, unknown> {
  const pricing = {
    model: 'per_call',
    min_usd: 0.01,
    max_usd: 0.01,
    rails: ['x402'],
    networks: [NETWORK],
  }
  return {
    ...{ name: 'Tides', kind: 'http_api', url: `${origin}/tides`, summary: 'High and low water.' },
    pricing,
    payout: [`${NETWORK}:${PAYEE}`],
    http: [
      {
        ...{
          method: 'GET',
          url: `${origin}/tides`,
          price: { min_usd: 0.01, max_usd: 0.01, per: 'call' },
        },
        params: [
          {
            name: 'port',
            in: 'query',
            required: true,
            schema: { type: 'string' },
            example: 'Brest',
          },
        ],
      },
    ],
    sources: [{ source: 'waypost', ref: 'https://tides.example/' }],
    added: '2026-11-20',
  }
}

export function kitOf({ front, evidence }: { front: object; evidence: Evidence }): KitView {
  const facts = { pricing: undefined, ...front }
  return toKit(toListing({ id: ID, facts, evidence, rules: { allowPrivate: true } }))
}

/** A lock with the listing as it is. */
export const lockOf = (world: PinnedWorld): Lock => ({
  version: 1,
  directory: world.url,
  listings: { [ID]: toLockEntry(world.kit()) },
})
