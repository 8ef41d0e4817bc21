import * as v from 'valibot'

/** An EVM node's data of a transaction, and how its words are read. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const hex = v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]*$/), v.toLowerCase())
export const HashSchema = v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{64}$/), v.toLowerCase())
export const AddressSchema = v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{40}$/), v.toLowerCase())
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
