import * as v from 'valibot'
import type { SettlementVerdict } from './settlement.ts'
import type { UsdAsset } from './usd-assets.ts'

/**
 * Does a Solana transaction prove the claimed payment? The caller sent it partly signed; the
 * facilitator adds its signature and nothing else. So the message that was settled must be the
 * caller's, byte for byte, which ties it to this very call, and the balances say who paid whom.
 */
export const TokenBalanceSchema = v.object({
  accountIndex: v.optional(v.pipe(v.number(), v.integer())),
  mint: v.string(),
  owner: v.string(),
  uiTokenAmount: v.object({ amount: v.pipe(v.string(), v.regex(/^\d{1,20}$/)) }),
})

export const SolanaTransactionSchema = v.object({
  blockTime: v.nullable(v.pipe(v.number(), v.integer())),
  meta: v.object({
    err: v.unknown(),
    preTokenBalances: v.array(TokenBalanceSchema),
    postTokenBalances: v.array(TokenBalanceSchema),
  }),
  transaction: v.tuple([v.string(), v.literal('base64')]),
})
export type SolanaTransaction = v.InferOutput<typeof SolanaTransactionSchema>

export const SolanaClaimSchema = v.object({
  family: v.literal('solana'),
  scheme: v.literal('solana_exact'),
  network: v.string(),
  /** Signature, base58. */
  transaction: v.string(),
  /** The partly signed transaction the caller sent, base64: its message must be the settled one. */
  authorised: v.string(),
})
type SolanaClaim = v.InferOutput<typeof SolanaClaimSchema>

/** @param payouts the listing's published owners on this chain. */
export function judgeSolanaSettlement(
  claim: SolanaClaim,
  found: SolanaTransaction,
  { payouts, asset }: { payouts: readonly string[]; asset: UsdAsset | null },
): SettlementVerdict {
  if (asset === null) return { outcome: 'refused', reason: 'asset_not_allowed' }
  if (found.meta.err !== null) return { outcome: 'refused', reason: 'transaction_failed' }
  const settled = messageOf(found.transaction[0])
  const authorised = messageOf(claim.authorised)
  if (settled === null || authorised === null || settled !== authorised)
    return { outcome: 'refused', reason: 'message_differs' }
  if (found.blockTime === null) return { outcome: 'wait', reason: 'not_mined' }
  const changes = changesOf(found, asset.address)
  const payee = payouts.find((payout) => (changes.get(payout) ?? 0n) > 0n)
  const amount = payee === undefined ? 0n : (changes.get(payee) ?? 0n)
  const payer = [...changes].find(([, change]) => change <= -amount)?.[0]
  if (payee === undefined || payer === undefined)
    return { outcome: 'refused', reason: 'no_matching_transfer' }
  return {
    outcome: 'counted',
    settlement: {
      network: claim.network,
      transaction: claim.transaction,
      log_index: 0,
      payer,
      payee,
      usd: Number(amount) / 10 ** asset.decimals,
      amount: String(amount),
      at: found.blockTime * 1000,
      block: null,
    },
  }
}

/** Change of each owner's balance of one mint. */
export function changesOf(
  { meta }: Pick<SolanaTransaction, 'meta'>,
  mint: string,
): Map<string, bigint> {
  const changes = new Map<string, bigint>()
  const add = (owner: string, change: bigint) =>
    changes.set(owner, (changes.get(owner) ?? 0n) + change)
  for (const entry of meta.preTokenBalances)
    if (entry.mint === mint) add(entry.owner, -BigInt(entry.uiTokenAmount.amount))
  for (const entry of meta.postTokenBalances)
    if (entry.mint === mint) add(entry.owner, BigInt(entry.uiTokenAmount.amount))
  return changes
}

const SIGNATURE_BYTES = 64

/** Everything after the signatures (a compact count, then 64 bytes each), as text to compare. */
function messageOf(base64: string): string | null {
  let bytes: string
  try {
    bytes = atob(base64)
  } catch {
    return null
  }
  const count = bytes.charCodeAt(0)
  // More than 127 signatures would not fit a packet; a zero count is no transaction.
  if (!(count >= 1 && count <= 127)) return null
  const message = bytes.slice(1 + count * SIGNATURE_BYTES)
  return message === '' ? null : message
}
