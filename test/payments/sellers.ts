import { createServer, type RequestListener, type Server } from 'node:http'
import { x402Facilitator } from '@x402/core/facilitator'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme as FacilitatorScheme } from '@x402/evm/exact/facilitator'
import { ExactEvmScheme as ServerScheme } from '@x402/evm/exact/server'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/facilitator'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express, { type Express } from 'express'
import { evm, Mppx } from 'mppx/server'
import type { Address } from 'viem'
import { paymentMiddleware as paymentMiddlewareV1 } from 'x402-express'
import { closeServer } from '../support/listen.ts'
import { type Chain, NETWORK, USDC } from './chain.ts'

/**
 * Sellers as their packages' documentation builds them, and the official facilitator code. Two packages
 * for browsers' wallets, which version 1 names and no seller loads, are another small one (`overrides`).
 */
export interface Running {
  url: string
  close(): Promise<void>
}

/** Verifies and settles for all of them, over HTTP like the public ones. */
export function startFacilitator(chain: Chain): Promise<Running> {
  const wallet = chain.walletOf(0)
  const signer = toFacilitatorEvmSigner(
    Object.assign(wallet, { address: wallet.account.address }) as never,
  )
  const facilitator = new x402Facilitator()
    .register(NETWORK, new FacilitatorScheme(signer))
    .registerV1('base-sepolia' as never, new ExactEvmSchemeV1(signer))
  const app = express()
  app.use(express.json({ limit: '1mb' }))
  app.get('/supported', (_req, res) => void res.json(facilitator.getSupported()))
  app.post('/verify', async (req, res) => {
    res.json(await facilitator.verify(req.body.paymentPayload, req.body.paymentRequirements))
  })
  app.post('/settle', async (req, res) => {
    res.json(await facilitator.settle(req.body.paymentPayload, req.body.paymentRequirements))
  })
  return listen(app)
}

export interface Terms {
  price: `$${string}`
  payTo: Address
}

export function startSellerV2(
  facilitator: string,
  payTo: Address,
  price: Terms['price'] = '$0.001',
): Promise<Running> {
  return listen(createSellerV2(facilitator, { price, payTo }))
}

/** Sells answers at an address of its own: all of 127.0.0.0/8 is this machine. */
export function startShop(
  facilitator: string,
  {
    host,
    way = 'v2',
    toAnswer,
    ...terms
  }: Terms & { host: string; way?: keyof typeof WAYS; toAnswer: ToAnswer },
): Promise<Running> {
  return listenOn(createServer(WAYS[way](facilitator, terms, toAnswer)), host)
}

type ToAnswer = (url: URL) => unknown

/** How a shop is paid. */
const WAYS = { v1: createSellerV1, v2: createSellerV2, mpp: createSellerMpp }

const toSold = ({ pathname, search }: URL): unknown => ({ sold: 'v2', url: pathname + search })

function createSellerV2(facilitator: string, { price, payTo }: Terms, toAnswer = toSold): Express {
  const server = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitator })).register(
    NETWORK,
    new ServerScheme(),
  )
  const accepts = { scheme: 'exact', price, network: NETWORK, payTo } as const
  const app = express()
  app.use(paymentMiddleware({ 'GET /paid': { accepts }, 'POST /paid': { accepts } }, server))
  app.all('/paid', (req, res) => void res.json(toAnswer(new URL(req.url, 'http://seller'))))
  return app
}

export function startSellerV1(facilitator: string, payTo: Address): Promise<Running> {
  return listen(createSellerV1(facilitator, { price: '$0.002', payTo }, () => ({ sold: 'v1' })))
}

function createSellerV1(facilitator: string, { price, payTo }: Terms, toAnswer: ToAnswer): Express {
  const app = express()
  const url = facilitator as `${string}://${string}`
  const paid = { price, network: 'base-sepolia' } as const
  app.use(paymentMiddlewareV1(payTo, { 'GET /paid': paid }, { url }) as never)
  app.get('/paid', (req, res) => void res.json(toAnswer(new URL(req.url, 'http://seller'))))
  return app
}

export function startSellerMpp(facilitator: string, payTo: Address): Promise<Running> {
  const seller = createSellerMpp(facilitator, { price: '$0.003', payTo }, () => ({ sold: 'mpp' }))
  return listenOn(createServer(seller))
}

function createSellerMpp(
  facilitator: string,
  { price, payTo: recipient }: Terms,
  toAnswer: ToAnswer,
): RequestListener {
  const mppx = Mppx.create({
    methods: [
      evm({
        currency: USDC,
        chainId: 84532,
        decimals: 6,
        authorization: { name: 'USDC', version: '2' },
        recipient,
        x402: { facilitator },
      }),
    ],
    secretKey: 'a secret of the test, at least thirty-two bytes long',
  })
  const charge = Mppx.toNodeListener(mppx.charge({ amount: price.slice(1) }))
  return async (req, res) => {
    const result = await charge(req, res)
    if (result.status === 402) return
    res.setHeader('Content-Type', 'application/json')
    res.end(JSON.stringify(toAnswer(new URL(req.url ?? '', 'http://seller'))))
  }
}

/** Takes the first payment header it is shown, settles nothing, and claims an old transaction. */
export function startForger(payTo: Address, oldTransaction: () => string): Promise<Running> {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64')
  const app = express()
  app.all('/paid', (req, res) => {
    const resource = { url: `http://${req.headers.host}/paid`, description: '', mimeType: '' }
    const offer = {
      scheme: 'exact',
      network: NETWORK,
      amount: '1000',
      asset: USDC,
      payTo,
      maxTimeoutSeconds: 60,
      extra: { name: 'USDC', version: '2' },
    }
    if (req.headers['payment-signature'] === undefined) {
      const terms = { x402Version: 2, error: 'Payment required', resource, accepts: [offer] }
      res.status(402).set('PAYMENT-REQUIRED', encode(terms)).json({})
      return
    }
    const settled = { success: true, transaction: oldTransaction(), network: NETWORK }
    res.set('PAYMENT-RESPONSE', encode(settled)).json({ sold: 'nothing' })
  })
  return listen(app)
}

function listen(app: Express): Promise<Running> {
  return listenOn(createServer(app))
}

function listenOn(server: Server, host = '127.0.0.1'): Promise<Running> {
  return new Promise((resolve) =>
    server.listen(0, host, () => {
      const address = server.address()
      const port = typeof address === 'object' ? address?.port : 0
      resolve({
        url: `http://${host}:${port}`,
        close: () => closeServer(server),
      })
    }),
  )
}
