import * as v from 'valibot'
import type { Settlement, Transfer } from './settlement.ts'
import type { UsdAsset } from './usd-assets.ts'

/**
 * A Solana transaction's payment to a payout. In the x402 scheme `exact` the buyer signs one
 * checked transfer and somebody else pays the fee and signs last: only a transaction of exactly
 * that form counts. It is Solana's counterpart of an authorisation: the buyer consented to it and
 * did not send it.
 */
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111'
export const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
/** Instructions wallets may add: a memo, and guards against being drained. */
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

export const ParsedTransactionSchema = v.object({
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
export type ParsedTransaction = v.InferOutput<typeof ParsedTransactionSchema>

export interface SolanaSeller {
  network: string
  wallets: readonly string[]
  coin: UsdAsset
}

/** @returns the payment in a transaction to one of the wallets; null for anything else */
export function readSolanaPayment(
  found: ParsedTransaction,
  { network, wallets, coin: { address: mint, decimals } }: SolanaSeller,
): Omit<Settlement, 'listing_id'> | null {
  const { accountKeys, instructions } = found.transaction.message
  const [sponsor] = accountKeys
  const at = instructions.findIndex(({ programId }) => programId === TOKEN)
  const rest = instructions.filter((_, index) => index !== at)
  const transfer = v.safeParse(TransferSchema, instructions[at]?.parsed)
  if (found.meta.err !== null || sponsor === undefined || !transfer.success) return null
  const { source, destination, authority, tokenAmount, mint: paidIn } = transfer.output.info
  const { preTokenBalances, postTokenBalances } = found.meta
  const payee = wallets.find((wallet) =>
    isHeldBy(found, postTokenBalances, { account: destination, owner: wallet, mint }),
  )
  const isExact =
    paidIn === mint &&
    BigInt(tokenAmount.amount) > 0n &&
    rest.every(({ programId }) => HARMLESS.has(programId)) &&
    // The fee payer has no part in the payment, and the buyer signed it.
    sponsor.signer &&
    ![source, destination, authority].includes(sponsor.pubkey) &&
    !rest.some(({ accounts }) => accounts?.includes(sponsor.pubkey)) &&
    accountKeys.some(({ pubkey, signer }) => pubkey === authority && signer) &&
    isHeldBy(found, preTokenBalances, { account: source, owner: authority, mint })
  if (!isExact || payee === undefined) return null
  return {
    network,
    transaction: found.transaction.signatures[0] ?? '',
    // A payment has exactly one transfer.
    log: 0,
    payer: authority,
    payee,
    amount: tokenAmount.amount,
    usd: Number(tokenAmount.amount) / 10 ** decimals,
    at: found.blockTime * 1000,
    block: null,
    scheme: 'solana_exact',
  }
}

/** What a transaction took out of a payout's account, by wallets that had more afterwards. */
export function readSolanaReturns(
  found: ParsedTransaction,
  { network, wallet, coin }: Pick<SolanaSeller, 'network' | 'coin'> & { wallet: string },
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

/** Whether an account was its owner's own: a delegate's signature is not the owner's. */
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

/** Change of each owner's balance of one mint. */
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
