import { fillCall } from '../../../src/domain/kit/filled-call.ts'
import { LOCK_FILE } from '../../../src/domain/pins/lock.ts'
import { parseChallenges, toMppTerm } from '../../../src/domain/probe/read/mpp-terms.ts'
import { saltedHash } from '../../../src/domain/receipts/verify-receipt.ts'
import { parseJson } from '../../../src/domain/wire/parse-json.ts'
import type { Rail } from '../../../src/domain/wire/vocabulary.ts'
import type { Wallet } from '../src/payment.ts'
import type { CallReply, CallRequest } from '../src/relayed-call.ts'
import type { TaskWallet } from '../src/seller-quote.ts'
import type { Waypost } from '../src/waypost.ts'
import { WaypostError } from '../src/waypost-error.ts'
import { witnessedIn } from '../src/witnessed.ts'
import {
  EXIT,
  type Run,
  readArguments,
  readChoice,
  readNumber,
  readSubject,
  UsageFault,
} from './command-line.ts'
import { readLock } from './lock.ts'
import { keepReceipt } from './own-receipts.ts'
import { type CallBudget, callPaying } from './pay-call.ts'
import { printJson, toPrintable } from './printable.ts'
import { loadWallet } from './wallet.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** `waypost call <id>`: the seller's answer on stdout, price and payment on stderr. */
export const runCall: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    endpoint: { type: 'string' },
    method: { type: 'string', short: 'X' },
    header: { type: 'string', short: 'H', multiple: true },
    data: { type: 'string', short: 'd' },
    info: { type: 'boolean' },
    wallet: { type: 'string' },
    'max-usd': { type: 'string' },
    lock: { type: 'string' },
  })
  const id = readSubject(positionals, 'id')
  const method = readChoice('method', values.method, METHODS)
  const headers = readHeaders(values.header ?? [])
  const pay = await readPay(values.wallet, readNumber('max-usd', values['max-usd']))
  const waypost = connect(values.base)
  if (values.info === true) {
    printJson(await waypost.callInfo(id, values.endpoint))
    return EXIT.ok
  }
  const lock = await findLock(waypost, id, values.lock)
  const rail = pay !== undefined && !paysByX402(pay.wallet) ? 'mpp' : 'x402'
  const filled = await fill(waypost, id, rail, {
    endpoint: values.endpoint,
    method,
    headers: withJsonType(headers, values.data),
    body: values.data,
  })
  console.error(toPrintable(`${filled.method} ${filled.endpoint ?? id}`))
  const reply = await callAndPay(waypost, id, { ...filled, lock }, pay)
  tell(reply)
  const bytes = Buffer.from(await reply.response.arrayBuffer())
  await keepWitnessed(waypost.baseUrl, reply.response, bytes)
  return printAnswer(reply.response, bytes)
}

/** The library pays by x402; a wallet that can also sign for MPP chooses between both. */
async function callAndPay(
  waypost: Waypost,
  id: string,
  request: CallRequest,
  pay: CallBudget | undefined,
): Promise<CallReply> {
  if (pay === undefined) return waypost.call(id, request)
  const { wallet, ...rules } = pay
  return wallet.createCredential === undefined && paysByX402(wallet)
    ? waypost.call(id, { ...request, pay: { ...rules, wallet: withAdvice(wallet) } })
    : callPaying(waypost, id, request, pay)
}

function paysByX402(wallet: TaskWallet): wallet is TaskWallet & Wallet {
  return wallet.createPaymentPayload !== undefined
}

async function fill(
  waypost: Waypost,
  id: string,
  rail: Rail,
  asked: Parameters<typeof fillCall>[1],
) {
  // The relay reports an unknown listing.
  const operations = await waypost.kit(id).then(
    (kit) => kit.operations,
    () => [],
  )
  const filled = fillCall(operations, asked, rail)
  if (typeof filled === 'string') throw new UsageFault(filled)
  return filled
}

/** The lock of this folder where it has the listing. @throws UsageFault if a named one lacks it */
async function findLock(waypost: Waypost, id: string, named: string | undefined) {
  const lock = await readLock(named ?? LOCK_FILE, waypost)
  if (lock !== null && Object.hasOwn(lock.listings, id)) return lock
  if (named !== undefined) throw new UsageFault(`${named}: ${id} is not pinned`)
  if (lock !== null) console.error(`${id} is not pinned; it is called as it is today`)
  return undefined
}

/** A JSON body gets its type; anything else is sent as the caller says. */
function withJsonType(headers: Record<string, string>, body: string | undefined) {
  const isTyped = new Headers(headers).has('content-type')
  return body === undefined || isTyped || parseJson(body) === undefined
    ? headers
    : { ...headers, 'content-type': 'application/json' }
}

function readHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*)$/.exec(line) ?? []
      if (name === undefined || value === undefined)
        throw new UsageFault(`-H: expected "Name: value", got ${JSON.stringify(line)}`)
      return [name, value]
    }),
  )
}

/** A wallet is a module of the caller's own: keys never come near this command. */
async function readPay(
  file: string | undefined,
  maxUsd: number | undefined,
): Promise<CallBudget | undefined> {
  if (file === undefined && maxUsd === undefined) return undefined
  if (file === undefined || maxUsd === undefined)
    throw new UsageFault('--wallet and --max-usd go together: who pays, and the most it may cost')
  return { ...(await loadWallet(file)), maxUsd }
}

/** A wallet throws where it does not know the protocol's version or the network. */
export function withAdvice(wallet: Wallet): Wallet {
  return {
    async createPaymentPayload(terms: never) {
      try {
        return await wallet.createPaymentPayload(terms)
      } catch (cause) {
        const { x402Version = 'of the seller' }: { x402Version?: unknown } = Object(terms)
        throw new WaypostError(
          'wallet-refused',
          `The wallet signed nothing: ${cause instanceof Error ? cause.message : cause}. The seller asks by x402 version ${x402Version}: npm install @x402/core @x402/evm (@x402/svm for Solana), and register its scheme in the wallet (registerV1 for version 1).`,
          { status: 402, cause },
        )
      }
    },
  }
}

function tell({ response, terms, paid, receipt }: CallReply): void {
  const { status } = response
  console.error(`status ${status}${paid ? ', a payment was sent' : ''}`)
  if (terms !== undefined && !paid)
    console.error(toPrintable(`the seller asks: ${JSON.stringify(terms.accepts)}`))
  if (status === 402 && !paid)
    for (const term of readMppAsked(response))
      console.error(toPrintable(`the seller asks by MPP: ${JSON.stringify(term)}`))
  if (receipt !== undefined) console.error(toPrintable(`receipt: ${JSON.stringify(receipt)}`))
  const witnessed = witnessedIn(response)
  if (witnessed !== undefined)
    console.error(
      toPrintable(`what came back: waypost verify ${witnessed.id} --secret ${witnessed.secret}`),
    )
}

function readMppAsked({ headers }: Response) {
  const challenges = parseChallenges(headers.get('www-authenticate') ?? '')
  const payments = challenges.filter(({ scheme }) => scheme === 'payment')
  return payments.flatMap(({ parameters }) => toMppTerm(parameters) ?? [])
}

async function keepWitnessed(directory: string, response: Response, bytes: Buffer) {
  const witnessed = witnessedIn(response)
  if (witnessed === undefined) return
  // A moved listing has a different id than the one requested.
  const listing = decodeURIComponent(new URL(response.url).pathname.split('/').at(-1) ?? '')
  // A compressed answer was decompressed before it got here; the relay saw it compressed.
  const isPlain = !response.headers.has('content-encoding')
  const answer = isPlain ? { answer: saltedHash(witnessed.secret, bytes) } : {}
  await keepReceipt({ ...witnessed, directory, listing, at: new Date().toISOString(), ...answer })
}

/** Unchanged bytes into a pipe or a file; on a terminal nothing in them may move the cursor. */
function printAnswer(response: Response, bytes: Buffer): number {
  if (process.stdout.isTTY) console.log(toPrintable(bytes.toString('utf8')))
  else process.stdout.write(bytes)
  return response.ok ? EXIT.ok : EXIT.refused
}
