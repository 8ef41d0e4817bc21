import type { Settlement, Transfer } from '../../src/domain/trust/payments.ts'
import {
  listSignatures,
  type ParsedTransaction,
  readCluster,
  readSolanaPayment,
  readSolanaReturns,
  readTransaction,
  type Signature,
  tokenAccountOf,
} from '../../src/domain/trust/solana-payments.ts'
import { inPieces, type MeterCursorTable } from '../store/store.ts'
import { RpcError } from './evm-chain.ts'
import {
  type ChainTally,
  type ChainWork,
  FIRST_READ_MS,
  insertCursors,
  insertPayers,
  insertPayments,
  insertTransfers,
  MeterStopped,
  readCursors,
} from './meter-rows.ts'

/** Transactions read before they are recorded. */
const TOGETHER = 100

/**
 * Reads payments to the payouts of one Solana cluster since the last run: the signatures that
 * touched the account of each payout, then each transaction. Only what is final is seen, so nothing
 * is rolled back.
 *
 * Known limits: requests grow with payouts and payments, as Solana has no index of transfers to
 * many accounts; money that came to a payer through another wallet is not traced.
 */
export async function measureSolana(work: ChainWork): Promise<ChainTally> {
  const { rpc, network, asset, store, payouts, clock } = work
  if ((await readCluster(rpc)) !== network)
    throw new RpcError(`RPC_URLS: the node under ${network} is of another cluster`)
  const row = { network, first_block: 0, next_block: 0, read_until: 0, mark: null }
  const rows = payouts.map(({ payout }) => ({ ...row, payout }))
  await work.write((trx) => insertCursors(trx, rows))
  const tally: ChainTally = { payments: 0, read: 0 }
  for (const cursor of await readCursors(store, network, payouts)) {
    const account = tokenAccountOf(cursor.payout, asset.address)
    if (account === null) continue
    const wallet = cursor.payout
    const seller = { network, wallets: [wallet], coin: asset }
    const readAt = clock.now()
    let { mark } = cursor
    for (const some of inPieces(await listNew(work, cursor, account), TOGETHER)) {
      await work.onStep()
      const found = await readTransactions(work, some)
      const paid = found.flatMap((one) => readSolanaPayment(one, seller) ?? [])
      const payments = paid.map((one) => ({ ...one, listing_id: '' }))
      const sent = found.flatMap((one) => readSolanaReturns(one, { network, wallet, coin: asset }))
      const seen = { payments, sent, found, mark: some.at(-1)?.signature ?? mark }
      await writeTransactions(work, { ...cursor, mark }, seen)
      mark = seen.mark
      tally.payments += payments.length
      tally.read += found.length
    }
    await work.write(async (trx) => {
      await trx
        .updateTable('meter_cursor')
        .set({ read_until: readAt })
        .where((eb) => eb.and({ network, payout: wallet }))
        .execute()
    })
  }
  return tally
}

/** Transactions of an account since the last run, oldest first. */
async function listNew(
  { rpc, clock, since }: ChainWork,
  { mark }: MeterCursorTable,
  account: string,
): Promise<Signature[]> {
  const start = since ?? (mark === null ? clock.now() - FIRST_READ_MS : 0)
  const until = since === null && mark !== null ? { until: mark } : {}
  const listed = await listSignatures(rpc, account, { since: start, ...until })
  if (listed === null) throw new RpcError('getSignaturesForAddress: the same page again')
  return listed.reverse()
}

async function readTransactions({ rpc }: ChainWork, signatures: readonly Signature[]) {
  const found: ParsedTransaction[] = []
  for (const { signature } of signatures.filter(({ err }) => err === null)) {
    const one = await readTransaction(rpc, signature)
    if (one === null) throw new RpcError('getTransaction: not the transaction that was asked for')
    found.push(one)
  }
  return found
}

interface SeenTransactions {
  payments: Settlement[]
  sent: Transfer[]
  found: readonly ParsedTransaction[]
  /** The last signature of them. */
  mark: string | null
}

async function writeTransactions(
  work: ChainWork,
  cursor: MeterCursorTable,
  { payments, sent, found, mark }: SeenTransactions,
): Promise<void> {
  const { network } = work
  const slots = new Map(found.map(({ transaction, slot }) => [transaction.signatures[0], slot]))
  const payers = payments.toReversed().map(({ payer, transaction, at }) => ({
    network,
    payer,
    first_block: slots.get(transaction) ?? 0,
    first_paid_at: at,
  }))
  await work.write(async (trx) => {
    await insertPayments(trx, work.payouts, payments)
    await insertTransfers(trx, sent)
    await insertPayers(trx, [...new Map(payers.map((one) => [one.payer, one])).values()], {
      isTraced: true,
    })
    const moved = await trx
      .updateTable('meter_cursor')
      .set({ mark })
      .where((eb) => eb.and({ network, payout: cursor.payout }))
      .where('mark', cursor.mark === null ? 'is' : '=', cursor.mark)
      .returning('payout')
      .execute()
    if (moved.length === 0) throw new MeterStopped('a payout was read elsewhere meanwhile')
  })
}
