import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import * as v from 'valibot'
import type { CountedScheme } from './payments.ts'

/**
 * Contracts of x402's batch settlement and auth-capture, which hold a buyer's money and may return
 * it, and the collectors that pass it on; by package version, in lower case. An address fixes the
 * code on every EVM chain. Money that waits in one of them has not been paid to anybody yet.
 */
export const DEPOSIT_PLACES: readonly string[] = [
  // Batch settlement, 2.12 and later; it collects by EIP-3009 and by Permit2.
  '0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003',
  '0x4020806089470a89826cb9fb1f4059150b550004',
  '0x4020425faf3b746c082c2f942b4e5159887b0005',
  // Auth-capture, v1.1.
  '0xf96815976523e00e65be8f34ca5e64b4f41eb19c',
  '0x8612dfdc421f80336cd14e8ef9cb1e765db5ab88',
  '0xd69831aed5bfe262067ec4c751f4f830ecdd446e',
  // Auth-capture, v1.0.
  '0xbdea0d1bcc5966192b070fdf62ab4ef5b4420cff',
  '0x0e3df9510de65469c4518d7843919c0b8c7a7757',
  '0x992476b9ee81d52a5bda0622c333938d0af0ab26',
]

/** What is known about one transaction: all its data, or the part that was read. */
interface Shown<Log extends EvmLog> {
  logs: readonly Log[]
  /** The transaction's call, read only for schemes that need it. */
  call: EvmCall | null
  /** The coin's contract. */
  coin: string
}

export interface ShownPayment<Log extends EvmLog> {
  scheme: CountedScheme
  /** The log that moved the money. */
  log: Log
  payer: string
  /** The log that proves the payer's consent: `log` itself, or a log next to it. */
  consent: Log
}

/** How to read a scheme whose payments are one transfer each. */
export interface EvmRule {
  read<Log extends EvmLog>(shown: Shown<Log>): ShownPayment<Log>[]
}

/** Topic for an ERC-20 transfer in an EVM node's logs. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const hex = v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]*$/), v.toLowerCase())
export const HashSchema = v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{64}$/), v.toLowerCase())
const AddressSchema = v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{40}$/), v.toLowerCase())
export const QuantitySchema = v.pipe(
  v.string(),
  v.regex(/^0x[0-9a-fA-F]{1,16}$/),
  v.transform(Number),
)

export const LogSchema = v.object({
  address: hex,
  topics: v.array(hex),
  data: hex,
  logIndex: QuantitySchema,
  blockNumber: QuantitySchema,
  blockHash: HashSchema,
  transactionHash: hex,
})
export type EvmLog = v.InferOutput<typeof LogSchema>

/** A transaction's sender, contract and call data. */
export const CallSchema = v.object({
  hash: HashSchema,
  blockHash: v.nullable(HashSchema),
  from: AddressSchema,
  to: v.nullish(AddressSchema),
  input: v.optional(hex, '0x'),
})
type EvmCall = v.InferOutput<typeof CallSchema>

/** @example toAddress('0x000…00abc…') → '0x' and the last 40 digits */
export function toAddress(topic: string | undefined): string {
  return `0x${(topic ?? '').slice(-40)}`
}

/** @example toTopic('0xabc…') → '0x' and 64 digits */
export function toTopic(address: string): string {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}

/** How many of the coin's smallest units a transfer moved. */
export function amountOf({ data }: Pick<EvmLog, 'data'>): bigint {
  return wordAt(data, 0)
}

/** The n-th 32 bytes of a log's data, or of a call's arguments, as a number; 0 if there are fewer. */
function wordAt(data: string, n: number): bigint {
  const word = data.slice(2 + n * 64, 2 + (n + 1) * 64)
  return word === '' ? 0n : BigInt(`0x${word}`)
}

/** The n-th 32 bytes, read as an address. */
function addressAt(data: string, n: number): string {
  return toAddress(data.slice(2 + n * 64, 2 + (n + 1) * 64))
}

/** Whether a log is an ERC-20 transfer of one coin; a log with an indexed amount is not. */
function isTransferOf({ address, topics, data }: EvmLog, coin: string): boolean {
  return (
    address === coin &&
    topics[0] === TRANSFER_TOPIC &&
    topics.length === 3 &&
    /^0x[0-9a-f]{64}$/.test(data)
  )
}

/**
 * Transfer authorisations (EIP-3009): x402 `exact` and MPP `evm`. The token writes `AuthorizationUsed` and, as the next
 * log, the authorised transfer: so an ordinary transfer is not accepted because of a one-unit authorisation next to it,
 * and each authorisation is accepted for one transfer.
 *
 * A forger could write either event in his own contract: both must come from the coin's contract.
 */
export const AUTHORIZATION_USED_TOPIC =
  '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'

export const eip3009: EvmRule = {
  read({ logs, coin }) {
    const transfers = logs.filter((log) => isTransferOf(log, coin))
    const byPlace = new Map(transfers.map((log) => [placeOf(log, log.logIndex), log]))
    return logs.flatMap((consent) => {
      const { address, topics, logIndex } = consent
      if (address !== coin || topics[0] !== AUTHORIZATION_USED_TOPIC) return []
      const log = byPlace.get(placeOf(consent, logIndex + 1))
      if (log === undefined || log.topics[1] !== topics[1] || amountOf(log) === 0n) return []
      const payer = toAddress(topics[1])
      return [{ scheme: 'eip3009', log, payer, consent }]
    })
  },
}

function placeOf({ blockHash, transactionHash }: EvmLog, logIndex: number): string {
  return `${blockHash} ${transactionHash} ${logIndex}`
}

/**
 * Permit2, for x402 `exact` and `upto`: the buyer signs for a proxy, and the proxy's call names
 * coin, buyer and seller. The logs show less: the coin's transfer, and an event from the proxy
 * without any content. So the call is read too, and its target must be a listed proxy.
 *
 * A forger could write the same event in his own proxy (which is not on the list), or have the true
 * proxy move his own coin, which makes a pool pay the seller in real coins (but the call names his
 * coin, and not the pool). A call inside another call, as bundlers send it, is not seen.
 */
/** Positions of a call's words; for `exact`, the amount is the permitted one. */
interface Layout {
  selector: string
  /** Position of `permit.permitted.token`; the permitted amount follows it. */
  token: number
  amount: number
  owner: number
  to: number
}

/** `settle` and `settleWithPermit`, which has five additional words first. */
function bothWays(settle: string, withPermit: string, words: Omit<Layout, 'selector'>): Layout[] {
  const later = Object.entries(words).map(([name, at]) => [name, at + 5])
  return [
    { selector: settle, ...words },
    { selector: withPermit, ...words, ...Object.fromEntries(later) },
  ]
}

const EXACT = bothWays('0x13cd3b53', '0xfa340378', { token: 0, amount: 1, owner: 4, to: 5 })
const UPTO_WORDS = { token: 0, amount: 4, owner: 5, to: 6 }
const UPTO = bothWays('0xff11e7b4', '0x016c1748', UPTO_WORDS)
/** The calls of `upto` in the versions before a buyer could name who may settle. */
const FIRST_UPTO = bothWays('0x4bbb9642', '0x595ea2f0', UPTO_WORDS)

/**
 * Proxies by package version. An address fixes the code on every EVM chain; if nothing is deployed
 * there, a call leaves no log. The proxies of 2.3, whose calls had another form, were in use for
 * weeks and are left out.
 */
const PROXIES: Record<
  string,
  { scheme: 'permit2_exact' | 'permit2_upto'; layouts: readonly Layout[] }
> = {
  // 2.5 and later.
  '0x402085c248eea27d92e8b30b2c58ed07f9e20001': { scheme: 'permit2_exact', layouts: EXACT },
  '0x402039b3d6e6bec5a02c2c9fd937ac17a6940002': { scheme: 'permit2_upto', layouts: FIRST_UPTO },
  // 2.9 and later.
  '0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002': { scheme: 'permit2_upto', layouts: UPTO },
}

/** The rule for Permit2: one call is one payment. */
export const permit2: EvmRule = {
  read({ logs, call, coin }) {
    const stated = call === null ? null : readCall(call)
    if (stated === null || stated.token !== coin || stated.amount > stated.permitted) return []
    const { scheme, payer, payee, amount } = stated
    const log = logs.find(
      (one) =>
        isTransferOf(one, coin) &&
        toAddress(one.topics[1]) === payer &&
        toAddress(one.topics[2]) === payee &&
        amountOf(one) === amount,
    )
    if (log === undefined || amount === 0n) return []
    return [{ scheme, log, payer, consent: log }]
  },
}

/** The payment in a call to a proxy; null for any other call. */
function readCall({ to, input }: EvmCall) {
  const proxy = PROXIES[to ?? '']
  const layout = proxy?.layouts.find(({ selector }) => input.startsWith(selector))
  if (proxy === undefined || layout === undefined) return null
  const words = `0x${input.slice(10)}`
  return {
    scheme: proxy.scheme,
    token: addressAt(words, layout.token),
    permitted: wordAt(words, layout.token + 1),
    amount: wordAt(words, layout.amount),
    payer: addressAt(words, layout.owner),
    payee: addressAt(words, layout.to),
  }
}

/**
 * MPP `charge` on Tempo: the coin writes a transfer and, next to it, the same transfer with a memo.
 * The memo names the seller's realm (the host that the buyer called) and the challenge, so it ties
 * the payment to this seller and this call. The payer is the transaction's signer; somebody else
 * may pay its fee.
 *
 * A forger can write any memo, but only next to real money of his own that the seller keeps. A
 * share of the price that goes to others has no such memo; a zero amount moves nothing.
 */
export const MEMO_TRANSFER_TOPIC =
  '0x57bc7354aa85aed339e000bccffabbc529466af35f0772c8f8ee1145927de7f0'

/** The first bytes of keccak("mpp"), and the version. */
const TAG = 'ef1ed71201'
const REALM_BYTES = 10

const MEMO = new RegExp(`^0x${TAG}([0-9a-f]{${REALM_BYTES * 2}})[0-9a-f]{34}$`)

/** The realm's mark in a payment's memo; null for every other log. */
export function readRealmOf({ address, topics, data }: EvmLog, coin: string): string | null {
  const isMemoTransfer =
    address === coin &&
    topics[0] === MEMO_TRANSFER_TOPIC &&
    topics.length === 4 &&
    /^0x[0-9a-f]{64}$/.test(data) &&
    amountOf({ data }) > 0n
  return (isMemoTransfer && MEMO.exec(topics[3] ?? '')?.[1]) || null
}

/** A realm as a memo writes it. @example markOfRealm('api.example.com') → 20 hexadecimal digits */
export function markOfRealm(realm: string): string {
  return bytesToHex(keccak_256(utf8ToBytes(realm)).subarray(0, REALM_BYTES))
}

export const tempoCharge: EvmRule = {
  read({ logs, call, coin }) {
    return logs.flatMap((log) => {
      const payer = toAddress(log.topics[1])
      // If a contract paid, or a wallet by an allowance, the payer is not the wallet that signed.
      if (readRealmOf(log, coin) === null || call?.from !== payer) return []
      return [{ scheme: 'tempo_charge', log, payer, consent: log }]
    })
  },
}
