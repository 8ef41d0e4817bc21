import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { findValueFault } from '../../src/domain/listing/json-schema.ts'
import type { Operation } from '../../src/domain/listing/listing-facts.ts'
import type { TaskSeller } from '../../src/domain/plans/task-plan.ts'
import { type JsonPath, parseJsonPath } from '../../src/domain/tasks/json-path.ts'
import { membersOf, type Task } from '../../src/domain/tasks/task.ts'
import { isJsonObject, memberOf, parseJson, toBase64 } from '../../src/domain/wire/json.ts'
import { closeServer } from '../support/listen.ts'

/**
 * Doubles of the sellers that are listed: each takes the requests that the seller's own schema takes,
 * asks money on a rail of its own, and answers in the seller's own shape. They may fail.
 */
export const FAILURES = ['dead', 'again_402', 'wrong_shape', 'empty', 'slow', 'raises'] as const
/** `hangs` takes the money and never answers. */
export type Failure = (typeof FAILURES)[number] | 'hangs'
export type Protocol = 'x402-v1' | 'x402-v2' | 'mpp'

export interface Double {
  task: Task
  seller: TaskSeller
  operation: Operation
  protocol: Protocol
  usd: number
  fails: Failure | null
  /** Its last numbers: of the loopback address it listens on, and of the wallet it is paid to. */
  host: number
  payee: number
}

export interface Doubles {
  /** Rows of a plan, at the doubles' own addresses. */
  toRow(double: Double): TaskSeller
  /** What was paid, in order; `request` names what it was paid for. */
  payments: { seller: string; usd: number; request: string }[]
  /** Requests that the seller's schema does not take. */
  refused: string[]
  /** Ids of the sellers asked, with or without a payment, in order. */
  requested: string[]
  close(): Promise<void>
}

const NETWORK = 'eip155:8453'
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
/** A millionth of a dollar: what a seller that raises its price adds each time it is asked. */
const RAISE = 0.000001

export async function openDoubles(doubles: readonly Double[]): Promise<Doubles> {
  const payments: Doubles['payments'] = []
  const refused: string[] = []
  const requested: Doubles['requested'] = []
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    void readText(req).then((body) => {
      const [, , key = ''] = (req.url ?? '').split('/')
      const double = doubles[Number(key)]
      if (double === undefined) return res.writeHead(404).end()
      requested.push(double.seller.seller.id)
      const before = requested.filter((id) => id === double.seller.seller.id).length
      return answer(double, { req, res, body, payments, refused, before })
    })
  }
  const hosts = [...new Set(doubles.map(({ host }) => host))]
  const ports = new Map<number, number>()
  const servers = await Promise.all(
    hosts.map(async (host) => {
      const server = createServer(handle)
      await new Promise<void>((done) => server.listen(0, toAddress(host), done))
      const { port } = server.address() as AddressInfo // listening on TCP: never a string or null
      ports.set(host, port)
      return server
    }),
  )
  return {
    payments,
    refused,
    requested,
    toRow: (double) => {
      const port = ports.get(double.host)
      const address = toAddress(double.host)
      const base = `http://${address}:${double.fails === 'dead' ? 1 : port}/s/${doubles.indexOf(double)}`
      const { search, pathname } = new URL(double.seller.url.replace(/\{(\w+)\}/g, '__$1__'))
      const path = `${pathname}${search}`.replace(/__(\w+?)__/g, '{$1}')
      const rail = double.protocol === 'mpp' ? 'mpp' : 'x402'
      const bounds = { min_usd: double.usd, max_usd: double.usd }
      return {
        ...double.seller,
        seller: { ...double.seller.seller, operator: address },
        url: base + path,
        usd: double.usd,
        price: { ...bounds, per: 'call' },
        offers: [{ rail, network: NETWORK, ...bounds }],
        relayed: false,
      }
    },
    close: async () => {
      await Promise.all(servers.map(closeServer))
    },
  }
}

/** All of 127.0.0.0/8 is this machine. */
function toAddress(host: number): string {
  return `127.0.1.${host + 1}`
}

interface Requested extends Pick<Doubles, 'payments' | 'refused'> {
  req: IncomingMessage
  res: ServerResponse
  body: string
  /** How often it was asked, this time included. */
  before: number
}

function answer(double: Double, requested: Requested): unknown {
  const { fails, seller } = double
  const { req, res, payments, refused } = requested
  if (fails === 'slow') return undefined
  const fault = findRequestFault(double, requested)
  if (fault !== null) {
    refused.push(`${seller.seller.id} ${double.task.id}: ${fault}`)
    return res.writeHead(400).end()
  }
  const usd = fails === 'raises' ? double.usd + RAISE * requested.before : double.usd
  if (!isPaid(double, req)) return ask(double, usd, res)
  payments.push({ seller: seller.seller.id, usd, request: `${req.url} ${requested.body}` })
  if (fails === 'hangs') return undefined
  if (fails === 'again_402') return ask(double, usd, res)
  const receipt = {
    'payment-response': toBase64(JSON.stringify({ success: true, transaction: '0x1' })),
  }
  if (seller.is_text === true)
    return res
      .writeHead(200, { 'content-type': 'text/plain', ...receipt })
      .end(fails === null || fails === 'raises' ? 'A page of text.' : '')
  const value = toAnswer(double)
  return res
    .writeHead(200, { 'content-type': 'application/json', ...receipt })
    .end(fails === 'empty' ? '' : JSON.stringify(value))
}

/** What a seller who validates would say of the request. */
function findRequestFault({ operation }: Double, { req, body }: Requested): string | null {
  if (req.method !== operation.method) return `expected ${operation.method}, got ${req.method}`
  const { searchParams } = new URL(req.url ?? '', 'http://seller.example')
  const missing = (operation.params ?? []).find(
    ({ name, in: place, required }) =>
      required === true && place === 'query' && !searchParams.has(name),
  )
  if (missing !== undefined) return `expected the parameter ${missing.name}`
  if (operation.method === 'GET' || operation.body?.schema === undefined) return null
  return findValueFault(operation.body.schema, parseJson(body))
}

function isPaid({ protocol }: Double, { headers }: IncomingMessage): boolean {
  if (protocol === 'mpp') return /^Payment \S+$/.test(headers.authorization ?? '')
  return headers[protocol === 'x402-v1' ? 'x-payment' : 'payment-signature'] !== undefined
}

/** The 402 of its protocol, with the members that real ones have. */
function ask({ protocol, payee }: Double, usd: number, res: ServerResponse) {
  const payTo = `0x${payee.toString(16).padStart(40, '0')}`
  const amount = String(Math.round(usd * 1e6))
  const offer = {
    scheme: 'exact',
    asset: USDC,
    payTo,
    maxTimeoutSeconds: 60,
    extra: { name: 'USDC', version: '2' },
  }
  if (protocol === 'mpp') {
    const request = { amount, currency: USDC, recipient: payTo, methodDetails: { chainId: 8453 } }
    const text = Buffer.from(JSON.stringify(request)).toString('base64url')
    const challenge = `Payment id="c1", realm="127.0.0.1", method="evm", intent="charge", request="${text}"`
    return res.writeHead(402, { 'www-authenticate': challenge }).end('{}')
  }
  if (protocol === 'x402-v1') {
    const accepts = [
      {
        ...offer,
        network: 'base',
        maxAmountRequired: amount,
        resource: 'http://127.0.0.1/',
        description: '',
        mimeType: '',
      },
    ]
    res.writeHead(402, { 'content-type': 'application/json' })
    return res.end(
      JSON.stringify({ x402Version: 1, error: 'X-PAYMENT header is required', accepts }),
    )
  }
  const terms = {
    x402Version: 2,
    resource: { url: 'http://127.0.0.1/' },
    accepts: [{ ...offer, network: NETWORK, amount }],
  }
  return res.writeHead(402, { 'payment-required': toBase64(JSON.stringify(terms)) }).end('{}')
}

/** Signs whatever it is asked to, as a wallet on either rail does. */
export const WALLET = {
  async createPaymentPayload(terms: never): Promise<object> {
    const { x402Version, accepts }: { x402Version: number; accepts: object[] } = terms
    return { x402Version, accepted: accepts[0], payload: { signature: '0x' } }
  },
  async createCredential(response: Response): Promise<string> {
    if (!response.headers.has('www-authenticate')) throw new Error('expected a challenge')
    return `Payment ${Buffer.from('{"payload":{}}').toString('base64url')}`
  },
}

/** An answer in the seller's shape that holds an output of the task; of another one where it fails so. */
function toAnswer({ task, seller, fails }: Double): unknown {
  let value: unknown
  for (const name of membersOf(task.output)) {
    const path = parseJsonPath(memberOf(seller.map, name)?.toString() ?? '')
    if (path !== null)
      value = put(value, path, toValue(memberOf(memberOf(task.output, 'properties'), name), name))
  }
  return fails === 'wrong_shape' ? { status: 'ok', task: task.id } : value
}

/** A value that a schema of a contract takes. */
function toValue(schema: unknown, name: string): unknown {
  const { type, items, minimum, minItems } = Object(schema)
  if (type === 'array') return Array.from({ length: minItems ?? 1 }, () => toValue(items, name))
  if (type === 'object')
    return Object.fromEntries(
      membersOf(schema).map((each) => [
        each,
        toValue(memberOf(Object(schema).properties, each), each),
      ]),
    )
  if (type === 'number' || type === 'integer') return Math.max(Number(minimum ?? 1), 1)
  return type === 'boolean' ? true : `some ${name}`
}

/** The other way round than reading: what lies at a path, with renames undone. */
function put(value: unknown, path: JsonPath, given: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return given
  if ('member' in step) {
    const own = isJsonObject(value) ? value : {}
    return { ...own, [step.member]: put(own[step.member], rest, given) }
  }
  if ('only' in step) return { ANY: put(undefined, rest, given) }
  if ('index' in step) {
    const list: unknown[] = Array.isArray(value) ? [...value] : []
    for (let at = 0; at <= step.index; at += 1) list[at] ??= null
    list[step.index] = put(list[step.index] ?? undefined, rest, given)
    return list
  }
  if ('each' in step)
    return (Array.isArray(given) ? given : [given]).map((one) => put(undefined, rest, one))
  let whole = value
  for (const [name, inner] of step.fields)
    if (memberOf(given, name) !== undefined) whole = put(whole, inner, memberOf(given, name))
  return whole
}
