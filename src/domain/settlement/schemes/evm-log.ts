import * as v from 'valibot'
import type { CountedScheme } from './schemes.ts'

/**
 * Contracts of x402's batch settlement and auth-capture, which hold a buyer's money and may return
 * it, with the collectors that pass it on; by version of the packages, lower case. An address fixes
 * the code on every EVM chain. What waits there was not paid to anybody yet.
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

/** Data of one transaction, or as much of it as was read. */
interface Shown<Log extends EvmLog> {
  logs: readonly Log[]
  /** Only read for the schemes that need it. */
  call: EvmCall | null
  /** The coin's contract. */
  coin: string
}

export interface ShownPayment<Log extends EvmLog> {
  scheme: CountedScheme
  /** The log that moved the money. */
  log: Log
  payer: string
  /** The log that proves the payer's consent: the same one, or one next to it. */
  consent: Log
}

/** How to read a scheme whose payments are one transfer each. */
export interface EvmRule {
  read<Log extends EvmLog>(shown: Shown<Log>): ShownPayment<Log>[]
}

/** An EVM node's data of a transaction, and how its words are read. */
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

/** Sender, contract and call data of a transaction. */
export const CallSchema = v.object({
  hash: HashSchema,
  blockHash: v.nullable(HashSchema),
  from: AddressSchema,
  to: v.nullish(AddressSchema),
  input: v.optional(hex, '0x'),
})
export type EvmCall = v.InferOutput<typeof CallSchema>

/** @example toAddress('0x000…00abc…') → '0x' and the last 40 digits */
export function toAddress(topic: string | undefined): string {
  return `0x${(topic ?? '').slice(-40)}`
}

/** @example toTopic('0xabc…') → '0x' and 64 digits */
export function toTopic(address: string): string {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}

/** Smallest units a transfer moved. */
export function amountOf({ data }: Pick<EvmLog, 'data'>): bigint {
  return wordAt(data, 0)
}

/** The n-th 32 bytes of a log's data, or of a call's arguments, as a number; 0 where there are none. */
export function wordAt(data: string, n: number): bigint {
  const word = data.slice(2 + n * 64, 2 + (n + 1) * 64)
  return word === '' ? 0n : BigInt(`0x${word}`)
}

/** The same 32 bytes as an address. */
export function addressAt(data: string, n: number): string {
  return toAddress(data.slice(2 + n * 64, 2 + (n + 1) * 64))
}

/** Whether a log is an ERC-20 transfer of one coin; one with an indexed amount is not. */
export function isTransferOf({ address, topics, data }: EvmLog, coin: string): boolean {
  return (
    address === coin &&
    topics[0] === TRANSFER_TOPIC &&
    topics.length === 3 &&
    /^0x[0-9a-f]{64}$/.test(data)
  )
}
