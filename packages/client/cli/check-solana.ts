import { listSignatures, readTransaction } from '../../../src/domain/settlement/solana-node.ts'
import { readSolanaPayment } from '../../../src/domain/settlement/solana-payments.ts'
import { tokenAccountOf } from '../../../src/domain/settlement/token-account.ts'
import { type UsdAsset, usdAssetOf } from '../../../src/domain/settlement/usd-assets.ts'
import type { LedgerPayment } from '../../../src/domain/trust/ledger-payment.ts'
import { largestOf } from '../../../src/domain/wire/extremes.ts'
import { WaypostError } from '../src/waypost-error.ts'
import type { Ask } from './ask-node.ts'

interface Looked {
  ask: Ask
  network: string
  /** Of the listing, and of its buyers' payments to known sellers. */
  checked: readonly LedgerPayment[]
  /** All of the file. */
  rows: readonly LedgerPayment[]
  wallets: readonly string[]
  /** Start of the window, milliseconds. */
  from: number
}

/** Checks Solana rows against a node: each is what its transaction paid, and none is missing. */
export async function checkSolanaRows(looked: Looked): Promise<string[]> {
  const { ask, network, checked } = looked
  const coin = usdAssetOf(network, { allowTestCoins: true })
  if (coin === null)
    return checked.map(({ transaction }) => `${transaction}: its coin does not count`)
  const faults: string[] = []
  const seen = new Set<string>()
  for (const row of checked) {
    const fault = seen.has(row.transaction)
      ? 'it is in the rows twice'
      : await findFault(ask, row, coin)
    seen.add(row.transaction)
    if (fault !== null) faults.push(`${row.transaction}: ${fault}`)
  }
  for (const missing of await findMissing(looked, coin))
    faults.push(`${missing}: the rows do not have this payment`)
  return faults
}

async function findFault(ask: Ask, row: LedgerPayment, coin: UsdAsset): Promise<string | null> {
  const paid = await readPayment(ask, row.transaction, { ...row, wallet: row.payee, coin })
  if (paid === null) return 'the chain has no such payment to that payee'
  const isSame =
    paid.transaction === row.transaction &&
    paid.log === row.log &&
    paid.payer === row.payer &&
    paid.amount === row.amount &&
    Math.round(paid.usd * 1_000_000) === row.usd_micro &&
    paid.at === row.at &&
    coin.address === row.asset &&
    (row.scheme === null || row.scheme === paid.scheme)
  return isSame ? null : 'the chain has another payer, amount, coin, scheme or time there'
}

/** Transactions of the payees' accounts in the window; after the newest row may be unread ones. */
async function findMissing(looked: Looked, coin: UsdAsset): Promise<string[]> {
  const { ask, network, rows, wallets, from } = looked
  const own = rows.filter((row) => row.network === network)
  const known = new Set(own.map(({ transaction }) => transaction))
  const newest = largestOf(
    own.map(({ at }) => at),
    0,
  )
  const missing: string[] = []
  for (const wallet of wallets)
    for (const { signature, blockTime } of await listPaid(ask, wallet, coin, from)) {
      if ((blockTime ?? 0) * 1000 > newest || known.has(signature)) continue
      const paid = await readPayment(ask, signature, { network, wallet, coin })
      if (paid !== null) missing.push(signature)
    }
  return missing
}

async function listPaid(ask: Ask, wallet: string, coin: UsdAsset, since: number) {
  const account = tokenAccountOf(wallet, coin.address)
  const listed = account === null ? [] : await listSignatures({ call: ask }, account, { since })
  if (listed === null)
    throw new WaypostError(
      'unreadable',
      '--rpc: the node gives the same signatures again and again',
    )
  return listed.filter(({ err }) => err === null)
}

async function readPayment(
  ask: Ask,
  signature: string,
  { network, wallet, coin }: { network: string; wallet: string; coin: UsdAsset },
) {
  const found = await readTransaction({ call: ask }, signature)
  return found === null ? null : readSolanaPayment(found, { network, wallets: [wallet], coin })
}
