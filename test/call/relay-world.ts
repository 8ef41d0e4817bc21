import type { RequestListener } from 'node:http'
import { connect, createServer as createTcpServer, type Socket } from 'node:net'
import type { Parts } from '../../functions/features/feature.ts'
import { createProblems } from '../../functions/http/answers.ts'
import type { Resolver } from '../../functions/net/resolver.ts'
import { systemClock } from '../../functions/ports/clock.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { RELAY_LIMITS, type RelayLimits } from '../../functions/relay/call-plan.ts'
import { createRelay, type RelayParts, toRelayFeature } from '../../functions/relay/relay.ts'
import type { CallObserver } from '../../functions/relay/seller-call.ts'
import type { Release } from '../../functions/release/release.ts'
import type { ReadLimits } from '../../functions/server/connections.ts'
import { createRateLimits } from '../../functions/server/rate-limits.ts'
import { createWaypostServer } from '../../functions/service/server.ts'
import type { Gone, LiveListing } from '../../src/domain/listing/listing-states.ts'
import { closeServer, listen } from '../support/listen.ts'
import { liveListing } from '../support/live-listing.ts'

/** The service's own server with nothing behind it but the relay, and the listings a test asks for. Everything is on loopback. */
export interface RelayWorld extends AsyncDisposable {
  url: string
  port: number
  /** Every line the service logged. */
  logged: string[]
  /** The service's parts, for tests that look behind the socket. */
  parts: RelayParts
  close(): Promise<void>
}

export interface RelayWorldOptions {
  listings: LiveListing[]
  env?: Record<string, string>
  limits?: Partial<RelayLimits>
  resolver?: Resolver
  ledger?: RelayParts['ledger']
  observer?: CallObserver
  /** Listings that are gone. */
  gone?: readonly Gone[]
  /** Shown each request before the relay is. */
  onRequest?: RequestListener
  readLimits?: ReadLimits
  stillMs?: number
}

export const BASE_URL = 'https://waypost.example'
/** Here a slow reader is waited for: how busy the machine is must decide nothing. */
const PATIENT = { graceMs: 3_600_000, bytesPerSecond: 1, everyMs: 50 }

export async function startRelay(options: RelayWorldOptions): Promise<RelayWorld> {
  const logged: string[] = []
  const config = parseConfig({
    BASE_URL,
    UNSAFE_ALLOW_PRIVATE_TARGETS: 'true',
    RATE_LIMITS: '{"call":"off"}',
    ...options.env,
  })
  const listings = new Map(options.listings.map((listing) => [listing.id, listing]))
  const parts: RelayParts = {
    config,
    problem: createProblems(config.BASE_URL),
    clock: systemClock,
    log: createLog((line) => logged.push(line), Date.now),
    resolver: options.resolver ?? loopbackResolver,
    limits: createRateLimits(config),
    ledger: options.ledger ?? { usage: { called: () => {} }, hints: { note: () => {} } },
    release: () => ({
      ...{ listings, gone: new Map(options.gone?.map((row) => [row.id, row])) },
      // What another address than the relay's is looked for in.
      ...{ site: { switches: {} }, files: { has: () => false, serve: () => false } },
    }),
  }
  const relay = createRelay(
    parts,
    { ...RELAY_LIMITS, ...options.limits },
    undefined,
    options.observer,
  )
  const { readLimits = PATIENT, stillMs = 60_000 } = options
  const server = createWaypostServer({
    // The server looks at nothing else of the parts.
    parts: parts as unknown as Parts & { release: () => Release },
    features: [toRelayFeature(relay)],
    ...{ readLimits, stillMs },
  })
  if (options.onRequest !== undefined) server.prependListener('request', options.onRequest)
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}/api/v1/call`,
    port,
    logged,
    parts,
    ...closedBy(() => closeServer(server)),
  }
}

/** The same bound for everybody and everything. */
export function allInFlight(most: number): RelayLimits['inFlight'] {
  return {
    perListing: most,
    perListingAndClient: most,
    perListingAndNetwork: most,
    perClient: most,
    perNetwork: most,
    inAll: most,
  }
}

/** A payment header that decodes: x402 version 1, signed by nobody. */
export const PAYMENT = Buffer.from(
  '{"x402Version":1,"scheme":"exact","network":"base-sepolia","payload":{"signature":"0x"}}',
).toString('base64')

/** Every name is this machine. */
export const loopbackResolver: Resolver = {
  addresses: async () => [{ address: '127.0.0.1', family: 4 }],
  txt: async () => [],
}

/** A relayable listing at a URL, unless the test says otherwise. */
export function aListing(url: string, changes: Partial<LiveListing> = {}): LiveListing {
  return {
    ...liveListing('x402.seller', url),
    name: 'Seller',
    digest: 'digest-of-the-seller',
    buy: 'relay_x402',
    not_relayable_reason: null,
    methods: [],
    pricing: {
      model: 'per_call',
      min_usd: 0.01,
      max_usd: 0.01,
      rails: ['x402'],
      networks: ['eip155:84532'],
    },
    ...changes,
  }
}

interface RawSeller extends AsyncDisposable {
  url: string
  port: number
  close(): Promise<void>
}

/** A seller that speaks bytes: called once a connection with what was received so far. */
export async function startRawSeller(
  onRequest: (socket: Socket, received: string) => void,
): Promise<RawSeller & { connections: () => number; requests: string[] }> {
  const sockets = new Set<Socket>()
  const requests: string[] = []
  let connections = 0
  const server = createTcpServer((socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => {})
    let received = ''
    let isAnswered = false
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      if (isAnswered || !received.includes('\r\n\r\n')) return
      isAnswered = true
      requests.push(received)
      onRequest(socket, received)
    })
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    connections: () => connections,
    ...closedBy(async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    }),
  }
}

export interface RawAnswer {
  /** Everything received, latin1. */
  text: string
  status: number
  /** Header lines as sent. */
  lines: string[]
  body: string
  /** How the connection ended: with FIN, or torn. */
  end: 'fin' | 'reset'
}

/** Sends bytes and reads until the connection ends. `Connection: close` is up to the request. */
export function exchangeRaw(port: number, request: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let end: 'fin' | 'reset' = 'fin'
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(typeof request === 'string' ? Buffer.from(request, 'latin1') : request)
    })
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', () => {
      end = 'reset'
    })
    socket.on('close', () => {
      const text = Buffer.concat(chunks).toString('latin1')
      const [head = '', ...rest] = text.split('\r\n\r\n')
      const [first = '', ...lines] = head.split('\r\n')
      const body = rest.join('\r\n\r\n')
      resolve({ text, status: Number(first.split(' ')[1]), lines, body, end })
    })
  })
}

/** With `await using` at the end of a test, else by hand. */
function closedBy(close: () => Promise<void>) {
  return { close, [Symbol.asyncDispose]: close }
}
