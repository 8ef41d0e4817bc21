import { type EvmLog, toAddress } from './evm-settlement.ts'

/** A log with the block it stands in. */
export interface BlockLog extends EvmLog {
  blockHash: string
}

export interface PairedPayments<Log extends BlockLog> {
  /** Transfers that are EIP-3009 payments. */
  paid: Log[]
  /** By authoriser, the first block where it paid somebody who is not among the transfers. */
  paidOthers: Map<string, number>
}

/**
 * Which transfers were paid by authorisation. The token writes `AuthorizationUsed` and, as its very
 * next log, the transfer that was authorised: so a one-unit authorisation beside an ordinary transfer
 * pays for nothing, and each authorisation for one transfer.
 *
 * @param transfers of one token, to the payouts that are read
 * @param uses `AuthorizationUsed` of the same token, by whoever sent those transfers
 */
export function pairAuthorizations<Log extends BlockLog>(
  transfers: readonly Log[],
  uses: readonly Log[],
): PairedPayments<Log> {
  const open = new Map(uses.map((use) => [placeOf(use, use.logIndex), use]))
  const paid = transfers.filter((transfer) => {
    const place = placeOf(transfer, transfer.logIndex - 1)
    const isPaid = open.get(place)?.topics[1] === transfer.topics[1] && amountOf(transfer) > 0n
    if (isPaid) open.delete(place)
    return isPaid
  })
  const paidOthers = new Map<string, number>()
  for (const { topics, blockNumber } of open.values()) {
    const wallet = toAddress(topics[1])
    paidOthers.set(wallet, Math.min(blockNumber, paidOthers.get(wallet) ?? blockNumber))
  }
  return { paid, paidOthers }
}

/** Smallest units a transfer moved. */
export function amountOf({ data }: Pick<EvmLog, 'data'>): bigint {
  return BigInt(data === '0x' ? 0 : data)
}

function placeOf({ blockHash, transactionHash }: BlockLog, logIndex: number): string {
  return `${blockHash} ${transactionHash} ${logIndex}`
}
