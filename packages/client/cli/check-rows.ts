import {
  amountOf,
  CallSchema,
  type EvmCall,
  type EvmLog,
  QuantitySchema,
  toAddress,
} from '../../../src/domain/settlement/schemes/evm-log.ts'
import type { EvmRule } from '../../../src/domain/settlement/schemes/evm-rule.ts'
import { CHANNEL_RULES, EVM_RULES } from '../../../src/domain/settlement/schemes/scheme-rules.ts'
import { readRealmOf } from '../../../src/domain/settlement/schemes/tempo-charge.ts'
import { readCluster } from '../../../src/domain/settlement/solana-node.ts'
import { usdAssetOf } from '../../../src/domain/settlement/usd-assets.ts'
import { createPayeeLookup, type LedgerPayment } from '../../../src/domain/trust/ledger-payment.ts'
import type { LedgerFiles } from '../../../src/domain/trust/published-ledger.ts'
import { windowOf } from '../../../src/domain/trust/score-listings.ts'
import { largestOf } from '../../../src/domain/wire/extremes.ts'
import { WaypostError } from '../src/waypost-error.ts'
import { type Ask, createAsk, findBlock, placeOf, readReceipt, readTime } from './ask-node.ts'
import { type Claim, findChannelFaults, readClaim } from './check-channels.ts'
import { checkSolanaRows } from './check-solana.ts'
import { findMissing, toMark } from './find-missing.ts'

/** The listing whose rows are checked, and its host as memos of payments name it. */
export interface CheckedListing {
  id: string
  host: string
}

/**
 * Checks the rows of a listing's window against a chain's node, and those by which known sellers
 * vouch for its buyers: each row is one payment on the chain with the stated scheme, wallets, coin,
 * amount and second, and occurs once; and no payment is missing.
 *
 * Known limits: `NOT_MISSED` names what is not searched; why a row does not count is not checked.
 */
export async function checkRows(
  url: string,
  files: LedgerFiles,
  listing: CheckedListing,
): Promise<string[]> {
  const ask = createAsk(url)
  const network = await readNetwork(ask)
  const own = files.payees.filter(
    ({ payee, listings }) => payee.startsWith(`${network}:`) && listings.includes(listing.id),
  )
  const looked = {
    ask,
    network,
    checked: toChecked(files, network, listing.id),
    rows: files.payments,
    wallets: own.map(({ payee }) => payee.split(':')[2] ?? ''),
    from: Date.parse(files.as_of) - WINDOW_MS,
  }
  return network.startsWith('solana:') ? checkSolanaRows(looked) : checkEvmRows(looked, listing)
}

/** The chain of a node: each kind rejects the other's request. */
async function readNetwork(ask: Ask): Promise<string> {
  try {
    return `eip155:${await ask('eth_chainId', [], QuantitySchema)}`
  } catch (error) {
    if (!(error instanceof WaypostError) || error.code !== 'unreadable') throw error
    return await readCluster({ call: ask })
  }
}

async function checkEvmRows(
  { ask, network, checked, rows, wallets, from }: Parameters<typeof checkSolanaRows>[0],
  listing: CheckedListing,
): Promise<string[]> {
  const coin = usdAssetOf(network, { allowTestCoins: true })?.address ?? ''
  const head = await ask('eth_blockNumber', [], QuantitySchema)
  // Payments after the newest row may not have been read yet.
  const times = rows.filter((row) => row.network === network).map(({ at }) => at)
  const newest = (await findBlock(ask, largestOf(times, 0) + 1, head + 1)) - 1
  const chain = { ask, network, coin, head, newest }
  const { faults, claims } = await checkEach(ask, checked, listing)
  const range = { from: await findBlock(ask, from, head), to: newest }
  const known = new Set(rows.map((row) => toPlace(row)))
  const missing = await findMissing({ ...chain, wallets, range, known, host: listing.host })
  return [
    ...faults,
    ...missing.faults,
    ...(await findChannelFaults(chain, [...claims, ...missing.claims])),
  ]
}

/** Rows of a listing, and of its buyers' payments to known sellers. */
function toChecked(
  { as_of, payments, payees, seeds }: LedgerFiles,
  network: string,
  id: string,
): LedgerPayment[] {
  const read = payments.filter(
    (row) => row.network === network && windowOf(row.at, Date.parse(as_of)) === 0,
  )
  const buyers = new Set(read.flatMap((row) => (row.listings.includes(id) ? [row.payer] : [])))
  const payeeOf = createPayeeLookup(payees)
  const isVouching = (row: LedgerPayment) =>
    buyers.has(row.payer) && seeds.includes(payeeOf(row)?.owner ?? '')
  return read.filter((row) => row.listings.includes(id) || isVouching(row))
}

const WINDOW_MS = 30 * 86_400_000

async function checkEach(
  ask: Ask,
  rows: readonly LedgerPayment[],
  listing: CheckedListing,
): Promise<{ faults: string[]; claims: Claim[] }> {
  const faults: string[] = []
  const claims: Claim[] = []
  const seen = new Set<string>()
  for (const row of rows) {
    const place = toPlace(row)
    const found = seen.has(place) ? 'it is in the rows twice' : await checkRow(ask, row, listing)
    seen.add(place)
    if (typeof found === 'string') faults.push(`${place}: ${found}`)
    else if (found !== null) claims.push(found)
  }
  return { faults, claims }
}

function toPlace({ transaction, log }: LedgerPayment): string {
  return placeOf({ transactionHash: transaction, logIndex: log })
}

/**
 * Why the chain does not confirm a row; null where it does, and a claim where its channel must be
 * read. A row can be invented from any transfer.
 */
async function checkRow(
  ask: Ask,
  row: LedgerPayment,
  listing: CheckedListing,
): Promise<string | Claim | null> {
  const receipt = await readReceipt(ask, row.transaction)
  const log = receipt?.logs.find(({ logIndex }) => logIndex === row.log)
  if (receipt === null || log === undefined) return 'the chain has no such log'
  if ((await readTime(ask, receipt.blockNumber)) !== row.at) return 'it happened at another time'
  const coin = usdAssetOf(row.network, { allowTestCoins: true })
  if (coin === null || coin.address !== row.asset) return 'its coin does not count'
  if (Math.round((Number(row.amount) / 10 ** coin.decimals) * 1_000_000) !== row.usd_micro)
    return 'its amount in dollars differs'
  const channel = CHANNEL_RULES.find(({ id }) => id === row.scheme)
  if (channel !== undefined)
    return readClaim(channel, log, row) ?? 'no contract of its scheme paid that'
  const isTransfer =
    log.address === row.asset &&
    toAddress(log.topics[1]) === row.payer &&
    toAddress(log.topics[2]) === row.payee &&
    amountOf(log) === BigInt(row.amount)
  if (!isTransfer) return 'the chain has another coin, payer, payee or amount there'
  const isPaid = await isPayment(ask, row, receipt.logs, listing)
  return isPaid ? null : 'the buyer did not agree to it by its scheme'
}

/** Whether the transfer of a row is a payment by its scheme; for an older row, by any. */
async function isPayment(
  ask: Ask,
  row: LedgerPayment,
  logs: readonly EvmLog[],
  { id, host }: CheckedListing,
): Promise<boolean> {
  const isOf = (rule: EvmRule, shown: readonly EvmLog[], call: EvmCall | null) =>
    rule
      .read({ logs: shown, call, coin: row.asset })
      .some(
        ({ log, payer, scheme }) =>
          log.logIndex === row.log &&
          payer === row.payer &&
          (row.scheme === null || row.scheme === scheme),
      )
  if (isOf(EVM_RULES.eip3009, logs, null)) return true
  const call = await ask('eth_getTransactionByHash', [row.transaction], CallSchema)
  const own = logs.filter(({ logIndex }) => logIndex === row.log)
  if (isOf(EVM_RULES.permit2, own, call)) return true
  // A memo of this listing's own payments names its host; the files do not tell other hosts.
  const isAlone = row.listings.length === 1 && row.listings[0] === id
  const named = isAlone ? own.filter((log) => readRealmOf(log, row.asset) === toMark(host)) : own
  return isOf(EVM_RULES.tempo_charge, named, call)
}
