import type { Settlement, Transfer } from '../settlement/settlement.ts'
import { normalizeWallet } from './wash-rules.ts'

type Moment = Pick<Settlement, 'network' | 'at' | 'transaction' | 'log' | 'block'>
/** What the exclusions read of a payment; wallets are as `normalizeWallet` writes them. */
export type Paid = Moment & Pick<Settlement, 'payer' | 'payee' | 'amount'>

/**
 * Whether one payment surely came before another. Blocks carry whole seconds and several may share
 * one, so within a second only the same block, or the same transaction, gives an order. Money that
 * moves in the same second may have come before the payment or gone back after it.
 */
export function isSurelyBefore(one: Moment, other: Moment): boolean {
  if (one.at !== other.at) return one.at < other.at
  if (one.network !== other.network) return false
  if (one.block !== null && other.block !== null)
    return one.block === other.block ? one.log < other.log : one.block < other.block
  return one.transaction === other.transaction && one.log < other.log
}

/** Each payer's first payment, by wallet; of several at the same time always the same one. */
export function findFirstPayments<Payment extends Paid>(
  settlements: readonly Payment[],
): Map<string, Payment> {
  const first = new Map<string, Payment>()
  for (const settlement of settlements) {
    const known = first.get(settlement.payer)
    if (known === undefined || comesFirst(settlement, known))
      first.set(settlement.payer, settlement)
  }
  return first
}

/** Who gave a payer at least its first payment before it: anybody can throw dust at a wallet. */
export function findFunders(first: Paid, transfers: TransferIndex): Map<string, Transfer[]> {
  const received = transfers.to(first.payer).filter((transfer) => isSurelyBefore(transfer, first))
  const givers = Map.groupBy(received, ({ from }) => normalizeWallet(from))
  return new Map([...givers].filter(([, given]) => sumOf(given) >= BigInt(first.amount)))
}

export function sumOf(moved: readonly Pick<Transfer, 'amount'>[]): bigint {
  return moved.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
}

/** A fixed order for equal times, so that the same payments give the same verdict. */
function comesFirst(one: Paid, other: Paid): boolean {
  if (one.at !== other.at) return one.at < other.at
  if (isSurelyBefore(one, other)) return true
  if (isSurelyBefore(other, one)) return false
  return one.transaction === other.transaction
    ? one.log < other.log
    : one.transaction < other.transaction
}

/** Transfers by recipient; built once, used for each listing. */
export type TransferIndex = ReturnType<typeof indexTransfers>

/** Transfers of zero are left out: anybody can make one in anybody's name. */
export function indexTransfers(transfers: readonly Transfer[]) {
  const real = transfers.filter(({ amount }) => BigInt(amount) > 0n)
  const byReceiver = Map.groupBy(real, ({ to }) => normalizeWallet(to))
  const receivers = new Map<string, Set<string>>()
  for (const { from, to } of real) {
    const sender = normalizeWallet(from)
    receivers.set(sender, (receivers.get(sender) ?? new Set()).add(normalizeWallet(to)))
  }
  return {
    to: (wallet: string): readonly Transfer[] => byReceiver.get(wallet) ?? [],
    countReceivers: (from: string) => receivers.get(from)?.size ?? 0,
  }
}
