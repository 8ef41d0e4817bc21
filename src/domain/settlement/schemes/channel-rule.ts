import { amountOf, type EvmLog, isTransferOf, toTopic } from './evm-log.ts'
import type { CountedScheme } from './schemes.ts'

/** What happens to money in a contract. A channel is what one payer put in for one seller. */
export type ChannelEventKind =
  | 'opened'
  | 'deposit'
  | 'charge'
  | 'claim'
  | 'close'
  | 'refund'
  | 'returned'

/** One thing that happened to a channel, in the order of its chain. */
export interface ChannelEvent {
  /** Of its contract, as that names it. */
  channel: string
  kind: ChannelEventKind
  /** Smallest units. */
  amount: bigint
  /** Whose the channel is; known where it was opened. */
  payer: string | null
  payee: string | null
}

/** How the meter reads the channels of one scheme. */
export interface ChannelRule {
  id: CountedScheme
  /** Number of its rows in the ledger, where logs name no seller and contracts are read whole. */
  mark: number | null
  isOn(network: string): boolean
  contracts: readonly string[]
  /** Events about channels. Where they name the seller, he is the third indexed word. */
  topics: readonly string[]
  /** What a log says; null for other events, for other coins, and where the payer is not proved. */
  read(log: EvmLog, coin: string): ChannelEvent | null
  /** Events that a contract writes where it pays a seller; none where the transfer itself says so. */
  payingTopics: readonly string[]
  /** Whether a transfer to a seller is a contract's doing. @param paying those events beside it */
  isPaidBy(transfer: EvmLog, paying: readonly EvmLog[]): boolean
}

/**
 * The deposits that a transfer of the same amount stands before, in their transaction, from the channel's
 * payer to a place of `DEPOSIT_PLACES`. Each transfer proves one: anybody may deposit in another's name.
 */
export function proveDeposits<Log extends EvmLog>(
  deposits: readonly { log: Log; payer: string; amount: bigint }[],
  transfers: readonly EvmLog[],
  coin: string,
): Set<Log> {
  const open = new Set(transfers.filter((transfer) => isTransferOf(transfer, coin)))
  const proved = new Set<Log>()
  for (const { log, payer, amount } of deposits) {
    const money = [...open].find(
      (transfer) =>
        transfer.transactionHash === log.transactionHash &&
        transfer.logIndex < log.logIndex &&
        transfer.topics[1] === toTopic(payer) &&
        amountOf(transfer) === amount,
    )
    if (money === undefined) continue
    open.delete(money)
    proved.add(log)
  }
  return proved
}

/** What moves money to the seller. */
export const CLAIMING: ReadonlySet<ChannelEventKind> = new Set(['charge', 'claim', 'close'])

/**
 * How much of each claim counts: what it took, up to the proved money that is left. A charge brings its
 * own money, a close says what was taken in all. What goes back before it is claimed is taken off the
 * money, what is returned later off the claims, the last one first.
 *
 * @param events of one channel, in chain order
 * @returns by event, for those that count
 */
export function countClaims<Event extends Pick<ChannelEvent, 'kind' | 'amount'>>(
  events: readonly Event[],
): Map<Event, bigint> {
  const counted = new Map<Event, bigint>()
  let left = 0n
  let claimed = 0n
  for (const event of events) {
    const { kind, amount } = event
    if (kind === 'opened' || kind === 'deposit' || kind === 'charge') left += amount
    if (kind === 'refund') left -= smaller(amount, left)
    if (kind === 'returned') takeOff(counted, amount)
    if (!CLAIMING.has(kind)) continue
    const taken = kind === 'close' ? amount - claimed : amount
    claimed += taken
    const paid = smaller(taken, left)
    if (paid <= 0n) continue
    left -= paid
    counted.set(event, paid)
  }
  return counted
}

function takeOff<Event>(counted: Map<Event, bigint>, amount: bigint): void {
  let owed = amount
  for (const [event, paid] of [...counted].reverse()) {
    const back = smaller(owed, paid)
    owed -= back
    if (back === paid) counted.delete(event)
    else counted.set(event, paid - back)
  }
}

function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}
