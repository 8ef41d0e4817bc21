import { DEPOSIT_PLACES } from './contracts.ts'
import { amountOf, type EvmLog, isTransferOf, toAddress } from './evm-log.ts'
import type { CountedScheme } from './schemes.ts'

/** Events of money in a contract. A channel is what one payer deposited for one seller. */
export type ChannelEventKind =
  | 'opened'
  | 'deposit'
  | 'charge'
  | 'claim'
  | 'close'
  | 'refund'
  | 'returned'

/** One event of a channel, in the order of its chain. */
export interface ChannelEvent {
  /** As its contract names it. */
  channel: string
  kind: ChannelEventKind
  /** Smallest units. */
  amount: bigint
  /** Payer and seller of the channel; known from its opening. */
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
  /** Events about channels. Where they name the seller, it is the third indexed word. */
  topics: readonly string[]
  /** The event in a log; null for other events or coins, and where the payer is not proved. */
  read(log: EvmLog, coin: string): ChannelEvent | null
  /** Events of a contract that pays a seller; none where the transfer itself shows it. */
  payingTopics: readonly string[]
  /** Whether a transfer to a seller is a contract's doing. @param paying those events next to it */
  isPaidBy(transfer: EvmLog, paying: readonly EvmLog[]): boolean
}

/**
 * The real payer of each deposit, over all channels: anybody may deposit in another's name, so the
 * contract's payer proves nothing, and a transfer proves one deposit. A deposit's money is the last
 * transfer of its amount to the contract before it that no other deposit uses: the contract writes
 * a deposit as soon as it has the money, so nothing that a forger puts around or inside the call
 * comes in between.
 *
 * @param deposits of all channels, in chain order
 * @param transfers to the addresses of `DEPOSIT_PLACES`, in chain order
 */
function findDepositors<Log extends EvmLog>(
  deposits: readonly { log: Log; amount: bigint }[],
  transfers: readonly EvmLog[],
  coin: string,
): Map<Log, string> {
  const open = Map.groupBy(
    transfers.filter((transfer) => isTransferOf(transfer, coin)),
    ({ transactionHash }) => transactionHash,
  )
  const depositors = new Map<Log, string>()
  for (const { log, amount } of deposits) {
    const own = open.get(log.transactionHash) ?? []
    const money = takeLast(own, { to: log.address, amount, before: log.logIndex })
    if (money === undefined) continue
    const from = toAddress(money.topics[1])
    // The contract's own collector passes on what it took from the payer.
    const isPassedOn = DEPOSIT_PLACES.includes(from)
    const given = isPassedOn
      ? takeLast(own, { to: from, amount, before: money.logIndex })
      : undefined
    depositors.set(log, given === undefined ? from : toAddress(given.topics[1]))
  }
  return depositors
}

/** The channel event in a log. */
export interface ChannelLog<Log extends EvmLog> {
  log: Log
  event: ChannelEvent
}

/**
 * Channel events with a known payer, without deposits made with another's money. Deposits into all
 * other channels of their transactions must be included: they use money too.
 *
 * @param payers by channel
 */
export function keepProved<Log extends EvmLog>(
  events: readonly ChannelLog<Log>[],
  payers: ReadonlyMap<string, string>,
  { transfers, coin }: { transfers: readonly EvmLog[]; coin: string },
): ChannelLog<Log>[] {
  const deposits = events.filter(isDeposit)
  const depositors = findDepositors(
    deposits.map(({ log, event }) => ({ log, amount: event.amount })),
    transfers,
    coin,
  )
  return events.filter((one) => {
    const payer = payers.get(one.event.channel)
    return payer !== undefined && (!isDeposit(one) || depositors.get(one.log) === payer)
  })
}

export function isDeposit({ event }: Pick<ChannelLog<EvmLog>, 'event'>): boolean {
  return event.kind === 'deposit'
}

/** Removes the last transfer equal to this one. */
function takeLast(
  open: EvmLog[],
  { to, amount, before }: { to: string; amount: bigint; before: number },
): EvmLog | undefined {
  const at = open.findLastIndex(
    (transfer) =>
      transfer.logIndex < before &&
      toAddress(transfer.topics[2]) === to &&
      amountOf(transfer) === amount,
  )
  return at < 0 ? undefined : open.splice(at, 1)[0]
}

/** Events that move money to the seller. */
export const CLAIMING: ReadonlySet<ChannelEventKind> = new Set(['charge', 'claim', 'close'])

/**
 * How much of each claim counts: what it took, up to the remaining proved money. A charge brings
 * its own money, a close states the total taken. Refunds before a claim reduce the money, later
 * ones reduce the claims, the last one first.
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
