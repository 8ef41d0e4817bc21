import { once } from 'node:events'
import { fillCall } from '../../../src/domain/kit/filled-call.ts'
import { LOCK_FILE } from '../../../src/domain/pins/lock.ts'
import { toMppTerm } from '../../../src/domain/probe/read/mpp-terms.ts'
import { parseJson } from '../../../src/domain/wire/parse-json.ts'
import type { Rail } from '../../../src/domain/wire/vocabulary.ts'
import { challengesIn, type PayWith, type Witnessed, witnessedIn } from '../src/payment.ts'
import type { CallReply } from '../src/relayed-call.ts'
import type { Waypost } from '../src/waypost.ts'
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
import { escapeJson, printJson, toPrintable } from './printable.ts'
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
    'max-bytes': { type: 'string' },
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
  const rail = pay !== undefined && pay.wallet.createPaymentPayload === undefined ? 'mpp' : 'x402'
  const filled = await fill(waypost, id, rail, {
    endpoint: values.endpoint,
    method,
    headers: withJsonType(headers, values.data),
    body: values.data,
  })
  console.error(toPrintable(`${filled.method} ${filled.endpoint ?? id}`))
  const maxBytes = readNumber('max-bytes', values['max-bytes'])
  const reply = await waypost.call(id, { ...filled, lock, pay, maxBytes })
  tell(reply)
  const at = new Date().toISOString()
  const own = witnessedIn(reply.response)
  if (own !== undefined) await keepReceipt({ ...own, directory: waypost.baseUrl, listing: id, at })
  return printAnswer(reply.response)
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
): Promise<PayWith | undefined> {
  if (file === undefined && maxUsd === undefined) return undefined
  if (file === undefined || maxUsd === undefined)
    throw new UsageFault('--wallet and --max-usd go together: who pays, and the most it may cost')
  return { ...(await loadWallet(file)), maxUsd }
}

function tell({ response, terms, paid, receipt }: CallReply): void {
  const { status } = response
  const sent = paid === undefined ? '' : `, $${paid.usd} by ${paid.rail} to ${paid.payee} was sent`
  console.error(toPrintable(`status ${status}${sent}`))
  if (terms !== undefined && paid === undefined)
    console.error(toPrintable(`the seller asks: ${JSON.stringify(terms.accepts)}`))
  if (status === 402 && paid === undefined)
    for (const term of challengesIn(response.headers).flatMap((each) => toMppTerm(each) ?? []))
      console.error(toPrintable(`the seller asks by MPP: ${JSON.stringify(term)}`))
  if (receipt !== undefined) console.error(toPrintable(`receipt: ${JSON.stringify(receipt)}`))
  const witnessed = witnessedIn(response)
  if (witnessed !== undefined) console.error(toPrintable(toVerifyText(witnessed)))
}

/** The directory's receipt, and the secret that is given out once. */
export function toVerifyText({ id, secret }: Witnessed): string {
  return `what came back: waypost verify ${id} --secret ${secret}`
}

/** Unchanged bytes into a pipe or a file; on a terminal nothing in them may move the cursor. */
async function printAnswer(response: Response): Promise<number> {
  if (process.stdout.isTTY) {
    const text = await response.text()
    console.log(
      parseJson(text) === undefined ? toPrintable(text) : escapeJson(text.replaceAll('\r', '')),
    )
  } else if (response.body !== null)
    for await (const chunk of response.body)
      if (!process.stdout.write(chunk)) await once(process.stdout, 'drain')
  return response.ok ? EXIT.ok : EXIT.refused
}
