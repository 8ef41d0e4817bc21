import type { Server as HttpServer, RequestListener } from 'node:http'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import * as v from 'valibot'
import { onTestFinished } from 'vitest'
import { type HttpLimits, PURPOSES } from '../../functions/net/guard.ts'
import { createHttpClient, type HttpClient } from '../../functions/net/http-client.ts'
import { createResolver } from '../../functions/net/resolver.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import { createAnonymousProbes } from '../../functions/probes/lint.ts'
import type { Caller } from '../../functions/server/rate-limits.ts'
import { createListingFactsSchema } from '../../src/domain/listing/listing-facts.ts'
import type { PaymentTerm } from '../../src/domain/probe/finding.ts'
import type { ProbePlan } from '../../src/domain/probe/plan.ts'
import { SAMPLE_FACTS } from '../domain/listing-samples.ts'
import { listen as listenOn } from '../support/listen.ts'
import { startSite, type Site as WebSite } from '../support/site.ts'

/** A server of a test on loopback. */
export interface Site {
  url: string
  port: number
  close(): Promise<void>
}

/** A web server, for the rest of the test that calls it. */
export async function openSite(answer: RequestListener): Promise<WebSite> {
  const site = await startSite(answer)
  onTestFinished(site.close)
  return site
}

/** A server that writes raw bytes: anything but HTTP. */
export async function startRawSite(onConnect: (socket: Socket) => void): Promise<Site> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onConnect(socket)
  })
  return listen(server, () => {
    for (const socket of sockets) socket.destroy()
  })
}

export async function listen<Listening extends Server | HttpServer>(
  server: Listening,
  closeAll = () => 'closeAllConnections' in server && server.closeAllConnections(),
): Promise<Site> {
  const port = await listenOn(server)
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: () => {
      closeAll()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** A client that may reach loopback, with bounds a test can wait for. */
export function createTestClient(limits: Partial<HttpLimits> = {}, dns?: string): HttpClient {
  return createHttpClient('probe', {
    config: parseConfig({ UNSAFE_ALLOW_PRIVATE_TARGETS: 'true' }),
    resolver: createResolver(dns === undefined ? undefined : [dns]),
    limits: { ...PURPOSES.probe.limits, ...limits },
  })
}

/** The same, for the rest of the test that calls it. */
export function openClient(limits?: Partial<HttpLimits>): HttpClient {
  const client = createTestClient(limits)
  onTestFinished(client.close)
  return client
}

/** What an unpaid call is asked for. */
export const OFFER = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '10000',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: `0x${'ab'.repeat(20)}`,
}
export const toTerms = (accepts: readonly unknown[] = [OFFER]) =>
  Buffer.from(JSON.stringify({ x402Version: 2, accepts })).toString('base64')

/** Asks for payment. */
export const pay: RequestListener = (_req, res) =>
  void res.writeHead(402, { 'payment-required': toTerms() }).end('{}')

/** An offer as it was read. */
export const TERM: PaymentTerm & { payout: string } = {
  rail: 'x402',
  scheme: 'exact',
  network: 'eip155:8453',
  usd: 0.01,
  payout: `eip155:8453:0x${'11'.repeat(20)}`,
}

const FactsSchema = createListingFactsSchema({ allowPrivate: true })

/** The facts of a listing without a price. */
export const factsOf = (fields: Record<string, unknown>) =>
  v.parse(FactsSchema, { ...SAMPLE_FACTS, pricing: { model: 'unknown' }, ...fields })

export const NOTHING_DECLARED: ProbePlan['declared'] = {
  operations: [],
  networks: [],
  payouts: [],
}

/** What asks an address to be paid. */
export function paidRequest(url: string, method: 'GET' | 'POST' = 'GET') {
  const operation = { method, url }
  const request = { ...operation, headers: {} }
  return { request, operation, is_paid: true, is_guess: false, expected: null }
}

export function planPaid(id: string, ...urls: string[]): ProbePlan {
  const requests = urls.map((url) => paidRequest(url)) as [ReturnType<typeof paidRequest>]
  return {
    id,
    handshake: { kind: 'payment', rails: ['x402'], requests },
    declared: NOTHING_DECLARED,
  }
}

/** Runs that strangers ask for; they may reach loopback. */
export function createTestRuns() {
  const config = parseConfig({ UNSAFE_ALLOW_PRIVATE_TARGETS: 'true' })
  return createAnonymousProbes({ config, resolver: createResolver(undefined) })
}

export function aCaller(client: string, signal = new AbortController().signal): Caller {
  return { client, signal, socket: undefined }
}
