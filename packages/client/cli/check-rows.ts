import * as v from 'valibot'
import { AUTHORIZATION_USED_TOPIC } from '../../../src/domain/settlement/schemes/eip3009.ts'
import {
  amountOf,
  CallSchema,
  type EvmCall,
  type EvmLog,
  LogSchema,
  QuantitySchema,
  TRANSFER_TOPIC,
  toAddress,
  toTopic,
} from '../../../src/domain/settlement/schemes/evm-log.ts'
import type { EvmRule } from '../../../src/domain/settlement/schemes/evm-rule.ts'
import { CHANNEL_RULES, EVM_RULES } from '../../../src/domain/settlement/schemes/scheme-rules.ts'
import { usdAssetOf } from '../../../src/domain/settlement/usd-assets.ts'
import { createPayeeLookup, type LedgerPayment } from '../../../src/domain/trust/ledger-payment.ts'
import type { LedgerFiles } from '../../../src/domain/trust/published-ledger.ts'
import { windowOf } from '../../../src/domain/trust/score-listings.ts'
import { largestOf } from '../../../src/domain/wire/extremes.ts'
import { WaypostError } from '../src/waypost-error.ts'

/**
 * Holds the rows of a listing's window against an EVM chain's node, and those by which known sellers vouch for
 * its buyers: each row is one payment of the chain, by the scheme, in the coin, the amount and the second it
 * says, and is there once; and no payment by an authorisation of the coin or by Permit2 is missing.
 *
 * Known limits: `NOT_MISSED` says what is not missed; why a row does not count is not asked.
 */
export async function checkRows(
  url: string,
  { as_of, payments, payees, seeds }: LedgerFiles,
  id: string,
): Promise<string[]> {
  const ask = createAsk(url)
  const network = `eip155:${await ask('eth_chainId', [], QuantitySchema)}`
  const read = payments.filter(
    (row) => row.network === network && windowOf(row.at, Date.parse(as_of)) === 0,
  )
  const buyers = new Set(read.flatMap((row) => (row.listings.includes(id) ? [row.payer] : [])))
  const payeeOf = createPayeeLookup(payees)
  const isVouching = (row: LedgerPayment) =>
    buyers.has(row.payer) && seeds.includes(payeeOf(row)?.owner ?? '')
  const rows = read.filter((row) => row.listings.includes(id) || isVouching(row))
  const faults: string[] = []
  const seen = new Set<string>()
  for (const row of rows) {
    const place = `${row.transaction} log ${row.log}`
    const fault = seen.has(place) ? 'the rows have it twice' : await findFault(ask, row)
    seen.add(place)
    if (fault !== null) faults.push(`${place}: ${fault}`)
  }
  const own = payees.filter(
    ({ payee, listings }) => payee.startsWith(network) && listings.includes(id),
  )
  const wallets = own.map(({ payee }) => payee.split(':')[2] ?? '')
  return wallets.length === 0
    ? faults
    : [...faults, ...(await findMissing(ask, { network, wallets, rows: payments, asOf: as_of }))]
}

/** Payments that no single transfer shows, or that name a host which the files do not have. */
export const NOT_MISSED =
  'Missing rows are looked for by EIP-3009 and Permit2, up to the newest row of the chain; not of channels and escrows, Tempo and Solana. Of a channel or an escrow only its contract and the time are looked at.'

type Ask = ReturnType<typeof createAsk>

const BlockSchema = v.object({ number: QuantitySchema, timestamp: QuantitySchema })
const ReceiptSchema = v.nullable(
  v.object({ status: v.literal('0x1'), blockNumber: v.string(), logs: v.array(LogSchema) }),
)

function createAsk(url: string) {
  return async <Schema extends v.GenericSchema>(
    method: string,
    params: readonly unknown[],
    schema: Schema,
  ): Promise<v.InferOutput<Schema>> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', headers, body })
      .then((response) => response.json())
      .catch((cause: unknown) => {
        throw new WaypostError('unreachable', `--rpc: the node did not answer ${method}`, { cause })
      })
    const parsed = v.safeParse(v.object({ result: schema }), answer)
    if (parsed.success) return parsed.output.result
    throw new WaypostError('unreadable', `--rpc: the node did not answer ${method} as expected`)
  }
}

/** Why the chain does not bear a row out; null where it does. A row can be invented out of any transfer. */
async function findFault(ask: Ask, row: LedgerPayment): Promise<string | null> {
  const receipt = await ask('eth_getTransactionReceipt', [row.transaction], ReceiptSchema)
  const log = receipt?.logs.find(({ logIndex }) => logIndex === row.log)
  if (receipt === null || log === undefined) return 'the chain has no such log'
  const block = await ask('eth_getBlockByNumber', [receipt.blockNumber, false], BlockSchema)
  if (block.timestamp * 1000 !== row.at) return 'it happened at another time'
  const coin = usdAssetOf(row.network, { allowTestCoins: true })
  if (coin === null || coin.address !== row.asset) return 'its coin does not count'
  if (Math.round((Number(row.amount) / 10 ** coin.decimals) * 1_000_000) !== row.usd_micro)
    return 'its amount is other dollars'
  const channel = CHANNEL_RULES.find(({ id }) => id === row.scheme)
  if (channel !== undefined)
    return channel.contracts.includes(log.address) ? null : 'no contract of its scheme wrote that'
  const isTransfer =
    log.address === row.asset &&
    toAddress(log.topics[1]) === row.payer &&
    toAddress(log.topics[2]) === row.payee &&
    amountOf(log) === BigInt(row.amount)
  if (!isTransfer) return 'the chain has another coin, payer, payee or amount there'
  return (await isPayment(ask, row, receipt.logs)) ? null : 'the buyer did not agree to it'
}

/** Whether the transfer of a row is a payment by its scheme; of a row of before, by any. */
async function isPayment(ask: Ask, row: LedgerPayment, logs: readonly EvmLog[]): Promise<boolean> {
  const isOf = (rule: EvmRule, shown: readonly EvmLog[], call: EvmCall | null) =>
    rule
      .read({ logs: shown, call, coin: row.asset })
      .some(({ log, payer }) => log.logIndex === row.log && payer === row.payer)
  if (isOf(EVM_RULES.eip3009, logs, null)) return true
  const call = await ask('eth_getTransactionByHash', [row.transaction], CallSchema)
  const own = logs.filter(({ logIndex }) => logIndex === row.log)
  return isOf(EVM_RULES.permit2, own, call) || isOf(EVM_RULES.tempo_charge, own, call)
}

interface Looked {
  network: string
  wallets: readonly string[]
  rows: readonly LedgerPayment[]
  asOf: string
}

const WINDOW_MS = 30 * 86_400_000
const BLOCKS_AT_ONCE = 9_000

/** Payments by an authorisation of the coin, or by Permit2, that the rows do not have. */
async function findMissing(ask: Ask, { network, wallets, rows, asOf }: Looked): Promise<string[]> {
  const coin = usdAssetOf(network, { allowTestCoins: true })?.address
  if (coin === undefined) return []
  const head = await ask('eth_blockNumber', [], QuantitySchema)
  const from = await findBlock(ask, Date.parse(asOf) - WINDOW_MS, head)
  // What came later than the newest row may not have been read yet.
  const times = rows.filter((row) => row.network === network).map(({ at }) => at)
  const newest = (await findBlock(ask, largestOf(times, 0) + 1, head + 1)) - 1
  const known = new Set(rows.map(({ transaction, log }) => `${transaction} ${log}`))
  const missing: string[] = []
  for (let at = from; at <= newest; at += BLOCKS_AT_ONCE) {
    const range = {
      address: coin,
      fromBlock: hex(at),
      toBlock: hex(Math.min(newest, at + BLOCKS_AT_ONCE - 1)),
    }
    const logsOf = (topics: unknown[]): Promise<EvmLog[]> =>
      ask('eth_getLogs', [{ ...range, topics }], v.array(LogSchema))
    const received = await logsOf([TRANSFER_TOPIC, null, wallets.map(toTopic)])
    const payers = [...new Set(received.flatMap(({ topics }) => topics[1] ?? []))]
    const uses = payers.length === 0 ? [] : await logsOf([AUTHORIZATION_USED_TOPIC, payers])
    const unknown = received.filter((log) => !known.has(placeOf(log)))
    const signed = EVM_RULES.eip3009.read({ logs: [...unknown, ...uses], call: null, coin })
    const isSigned = new Set(signed.map(({ log }) => log))
    const rest = unknown.filter((log) => !isSigned.has(log))
    for (const { log } of [...signed, ...(await findPermitted(ask, rest, coin))])
      missing.push(`${placeOf(log).replace(' ', ' log ')}: the rows do not have this payment`)
  }
  return missing
}

async function findPermitted(ask: Ask, transfers: readonly EvmLog[], coin: string) {
  const permitted: { log: EvmLog }[] = []
  for (const [hash, logs] of Map.groupBy(transfers, (log) => log.transactionHash)) {
    const call = await ask('eth_getTransactionByHash', [hash], CallSchema)
    for (const payment of EVM_RULES.permit2.read({ logs, call, coin })) permitted.push(payment)
  }
  return permitted
}

function placeOf({ transactionHash, logIndex }: EvmLog): string {
  return `${transactionHash} ${logIndex}`
}

/** The first block that is not earlier than a moment; `end` where none before it is. */
async function findBlock(ask: Ask, at: number, end: number): Promise<number> {
  let [low, high] = [0, end]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const { timestamp } = await ask('eth_getBlockByNumber', [hex(middle), false], BlockSchema)
    if (timestamp * 1000 < at) low = middle + 1
    else high = middle
  }
  return low
}

function hex(number: number): string {
  return `0x${number.toString(16)}`
}
