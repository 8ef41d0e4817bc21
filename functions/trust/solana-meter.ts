import * as v from 'valibot'
import type { Transfer } from '../../src/domain/trust/payments.ts'
import { TOKEN, tokenAccountOf } from '../../src/domain/trust/solana-payments.ts'
import type { UsdAsset } from '../../src/domain/trust/usd-assets.ts'
import { inPieces, insertTogether, type MeterCursorTable } from '../store/store.ts'
import { type JsonRpc, RpcError } from './evm-chain.ts'
import {
  type ChainTally,
  type ChainWork,
  FIRST_READ_MS,
  insertPayers,
  insertPayments,
  insertTransfers,
  MeterStopped,
  readCursors,
  type SettlementTable,
} from './meter-rows.ts'

/** How many transactions are read before they are recorded together. */
const TOGETHER = 100

/**
 * Reads payments to the payouts on one Solana cluster since the last run: the signatures that
 * touched each payout's account, then each transaction. Only final transactions are read, so
 * nothing is rolled back.
 *
 * Known limits: the number of requests grows with payouts and payments, because Solana has no index
 * of transfers to many accounts; money that reached a payer through another wallet is not traced.
 */
export async function measureSolana(work: ChainWork): Promise<ChainTally> {
  const { rpc, network, asset, store, payouts, clock } = work
  if ((await readCluster(rpc)) !== network)
    throw new RpcError(`RPC_URLS: the node given for ${network} belongs to another cluster`)
  const row = { network, first_block: 0, next_block: 0, read_until: 0, mark: null }
  const rows = payouts.map(({ payout }) => ({ ...row, payout }))
  const { dialect } = store
  await work.write((trx) => insertTogether({ db: trx, dialect }, 'meter_cursor', rows))
  const tally: ChainTally = { payments: 0, read: 0 }
  for (const cursor of await readCursors(store, network, payouts)) {
    const account = tokenAccountOf(cursor.payout, asset.address)
    if (account === null) continue
    const wallet = cursor.payout
    const seller = { network, wallet, coin: asset }
    const readAt = clock.now()
    let { mark } = cursor
    for (const some of inPieces(await listNew(work, cursor, account), TOGETHER)) {
      await work.onStep()
      const found = await readTransactions(work, some)
      const payments = found.flatMap((one) => readSolanaPayment(one, seller) ?? [])
      const sent = found.flatMap((one) => readSolanaReturns(one, seller))
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

/** An account's transactions since the last run, oldest first. */
async function listNew(
  { rpc, clock, since }: ChainWork,
  { mark }: MeterCursorTable,
  account: string,
): Promise<Signature[]> {
  const start = since ?? (mark === null ? clock.now() - FIRST_READ_MS : 0)
  const until = since === null && mark !== null ? { until: mark } : {}
  return (await listSignatures(rpc, account, { since: start, ...until })).reverse()
}

async function readTransactions({ rpc }: ChainWork, signatures: readonly Signature[]) {
  const found: ParsedTransaction[] = []
  for (const { signature } of signatures.filter(({ err }) => err === null))
    found.push(await readTransaction(rpc, signature))
  return found
}

interface SeenTransactions {
  payments: SettlementTable[]
  sent: Transfer[]
  found: readonly ParsedTransaction[]
  /** The last signature among the transactions that were read. */
  mark: string | null
}

async function writeTransactions(
  work: ChainWork,
  cursor: MeterCursorTable,
  { payments, sent, found, mark }: SeenTransactions,
): Promise<void> {
  const { network } = work
  const slots = new Map(found.map(({ transaction, slot }) => [transaction.signatures[0], slot]))
  const payers = payments.toReversed().map(({ payer, transaction_id, settled_at }) => ({
    network,
    payer,
    first_block: slots.get(transaction_id) ?? 0,
    first_paid_at: settled_at,
  }))
  await work.write(async (trx) => {
    await insertPayments(trx, work, payments)
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
    if (moved.length === 0)
      throw new MeterStopped('another process has read this payout in the meantime')
  })
}

/**
 * How Solana transactions pay a payout. In the x402 scheme `exact` the buyer signs one
 * checked transfer and somebody else pays the fee and signs last: only a transaction of exactly
 * that form is accepted. Such a transaction is Solana's counterpart of an authorisation: the buyer
 * signed the transfer but did not send it.
 */
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111'

/** Instructions that wallets may add: a memo, and guards against being drained. */
const HARMLESS = new Set([
  COMPUTE_BUDGET,
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95',
])

const TokenBalanceSchema = v.object({
  accountIndex: v.optional(v.pipe(v.number(), v.integer())),
  mint: v.string(),
  owner: v.string(),
  uiTokenAmount: v.object({ amount: v.pipe(v.string(), v.regex(/^\d{1,20}$/)) }),
})

const InstructionSchema = v.object({
  programId: v.string(),
  parsed: v.optional(v.unknown()),
  accounts: v.optional(v.array(v.string())),
})

const TransferSchema = v.object({
  type: v.literal('transferChecked'),
  info: v.object({
    source: v.string(),
    destination: v.string(),
    mint: v.string(),
    authority: v.string(),
    tokenAmount: v.object({ amount: v.pipe(v.string(), v.regex(/^\d{1,20}$/)) }),
  }),
})

const ParsedTransactionSchema = v.object({
  slot: v.pipe(v.number(), v.integer(), v.minValue(0)),
  blockTime: v.pipe(v.number(), v.integer(), v.minValue(0)),
  meta: v.object({
    err: v.unknown(),
    preTokenBalances: v.array(TokenBalanceSchema),
    postTokenBalances: v.array(TokenBalanceSchema),
  }),
  transaction: v.object({
    signatures: v.array(v.string()),
    message: v.object({
      accountKeys: v.array(v.object({ pubkey: v.string(), signer: v.boolean() })),
      instructions: v.array(InstructionSchema),
    }),
  }),
})

type ParsedTransaction = v.InferOutput<typeof ParsedTransactionSchema>

interface SolanaSeller {
  network: string
  wallet: string
  coin: UsdAsset
}

/** @returns the payment in a transaction to the wallet; null for anything else */
function readSolanaPayment(
  found: ParsedTransaction,
  { network, wallet, coin: { address: mint, decimals } }: SolanaSeller,
): SettlementTable | null {
  const { accountKeys, instructions } = found.transaction.message
  const [sponsor] = accountKeys
  const at = instructions.findIndex(({ programId }) => programId === TOKEN)
  const rest = instructions.filter((_, index) => index !== at)
  const transfer = v.safeParse(TransferSchema, instructions[at]?.parsed)
  if (found.meta.err !== null || sponsor === undefined || !transfer.success) return null
  const { source, destination, authority, tokenAmount, mint: paidIn } = transfer.output.info
  const { preTokenBalances, postTokenBalances } = found.meta
  const isExact =
    paidIn === mint &&
    BigInt(tokenAmount.amount) > 0n &&
    rest.every(({ programId }) => HARMLESS.has(programId)) &&
    // The fee payer has no part in the payment, which the buyer signed.
    sponsor.signer &&
    ![source, destination, authority].includes(sponsor.pubkey) &&
    !rest.some(({ accounts }) => accounts?.includes(sponsor.pubkey)) &&
    accountKeys.some(({ pubkey, signer }) => pubkey === authority && signer) &&
    isHeldBy(found, preTokenBalances, { account: source, owner: authority, mint }) &&
    isHeldBy(found, postTokenBalances, { account: destination, owner: wallet, mint })
  if (!isExact) return null
  return {
    network,
    transaction_id: found.transaction.signatures[0] ?? '',
    // A payment has exactly one transfer.
    log_index: 0,
    listing_id: '',
    payer: authority,
    payee: wallet,
    amount: tokenAmount.amount,
    micro_usd: Math.round((Number(tokenAmount.amount) / 10 ** decimals) * 1_000_000),
    settled_at: found.blockTime * 1000,
    block_number: null,
    scheme: 'solana_exact',
    authorization_hash: null,
  }
}

/** What a transaction took out of a payout's account, for each wallet that had more afterwards. */
function readSolanaReturns(
  found: ParsedTransaction,
  { network, wallet, coin }: SolanaSeller,
): Transfer[] {
  const changes = changesOf(found, coin.address)
  if (found.meta.err !== null || (changes.get(wallet) ?? 0n) >= 0n) return []
  const gained = [...changes]
    .filter(([, change]) => change > 0n)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return gained.map(([to, change], index) => ({
    network,
    transaction: found.transaction.signatures[0] ?? '',
    log: index,
    from: wallet,
    to,
    amount: change.toString(),
    at: found.blockTime * 1000,
    block: null,
    from_contract: null,
  }))
}

/** Whether an account belonged to this owner: a delegate's signature is not the owner's. */
function isHeldBy(
  { transaction }: ParsedTransaction,
  balances: ParsedTransaction['meta']['preTokenBalances'],
  held: { account: string; owner: string; mint: string },
): boolean {
  const index = transaction.message.accountKeys.findIndex(({ pubkey }) => pubkey === held.account)
  return balances.some(
    ({ accountIndex, owner, mint }) =>
      accountIndex === index && owner === held.owner && mint === held.mint,
  )
}

/** How each owner's balance of one mint changed. */
function changesOf({ meta }: ParsedTransaction, mint: string): Map<string, bigint> {
  const changes = new Map<string, bigint>()
  const add = (owner: string, change: bigint) =>
    changes.set(owner, (changes.get(owner) ?? 0n) + change)
  for (const entry of meta.preTokenBalances)
    if (entry.mint === mint) add(entry.owner, -BigInt(entry.uiTokenAmount.amount))
  for (const entry of meta.postTokenBalances)
    if (entry.mint === mint) add(entry.owner, BigInt(entry.uiTokenAmount.amount))
  return changes
}

/** A Solana CAIP-2 reference is the first 32 characters of the genesis hash. */
const REFERENCE_LENGTH = 32

/** The node's cluster, CAIP-2. */
async function readCluster(node: JsonRpc): Promise<string> {
  const genesis = await node.call('getGenesisHash', [], v.string())
  return `solana:${genesis.slice(0, REFERENCE_LENGTH)}`
}

/** A final transaction with parsed instructions. @throws RpcError if the node returns none, or another transaction */
async function readTransaction(node: JsonRpc, signature: string): Promise<ParsedTransaction> {
  const options = {
    encoding: 'jsonParsed',
    commitment: 'finalized',
    maxSupportedTransactionVersion: 0,
  }
  const found = await node.call(
    'getTransaction',
    [signature, options],
    v.nullable(ParsedTransactionSchema),
  )
  if (found?.transaction.signatures[0] === signature) return found
  throw new RpcError('getTransaction: the node sent a transaction that was not requested')
}

/** Most signatures that a node lists at once. */
const PAGE = 1_000

const SignaturesSchema = v.array(
  v.object({
    signature: v.pipe(v.string(), v.regex(/^[1-9A-HJ-NP-Za-km-z]{64,90}$/)),
    err: v.unknown(),
    blockTime: v.nullish(v.number()),
  }),
)

type Signature = v.InferOutput<typeof SignaturesSchema>[number]

/**
 * An account's transactions, newest first, failures included.
 * @param since start time (milliseconds); transactions without a time are listed as well
 * @param until the signature at which an earlier list ended
 * @throws RpcError if the node returns the same page again
 */
async function listSignatures(
  node: JsonRpc,
  account: string,
  { since, until }: { since: number; until?: string },
): Promise<Signature[]> {
  const listed: Signature[] = []
  for (let before: { before?: string } = {}; ; ) {
    const options = { limit: PAGE, commitment: 'finalized', ...(until && { until }), ...before }
    const page = await node.call('getSignaturesForAddress', [account, options], SignaturesSchema)
    const fresh = page.filter(
      ({ blockTime }) => typeof blockTime !== 'number' || blockTime * 1000 >= since,
    )
    for (const signature of fresh) listed.push(signature)
    const last = page.at(-1)
    if (page.length < PAGE || fresh.length < page.length || last === undefined) return listed
    if (before.before === last.signature)
      throw new RpcError('getSignaturesForAddress: the node sent the same page again')
    before = { before: last.signature }
  }
}
