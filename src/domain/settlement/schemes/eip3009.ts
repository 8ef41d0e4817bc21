import type { EvmRule } from './evm-log.ts'
import { amountOf, type EvmLog, isTransferOf, toAddress } from './evm-log.ts'

/**
 * Transfer authorisations (EIP-3009): x402 `exact` and MPP `evm`. The token writes
 * `AuthorizationUsed` and, as the next log, the authorised transfer: so a one-unit authorisation
 * next to an ordinary transfer pays for nothing, and each authorisation for one transfer.
 *
 * A forger could write either event in a contract of his own: both must be the coin's.
 */
export const AUTHORIZATION_USED_TOPIC =
  '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'

export const eip3009: EvmRule = {
  read({ logs, coin }) {
    const transfers = logs.filter((log) => isTransferOf(log, coin))
    const byPlace = new Map(transfers.map((log) => [placeOf(log, log.logIndex), log]))
    return logs.flatMap((consent) => {
      const { address, topics, logIndex } = consent
      if (address !== coin || topics[0] !== AUTHORIZATION_USED_TOPIC) return []
      const log = byPlace.get(placeOf(consent, logIndex + 1))
      if (log === undefined || log.topics[1] !== topics[1] || amountOf(log) === 0n) return []
      const payer = toAddress(topics[1])
      return [{ scheme: 'eip3009', log, payer, consent }]
    })
  },
}

function placeOf({ blockHash, transactionHash }: EvmLog, logIndex: number): string {
  return `${blockHash} ${transactionHash} ${logIndex}`
}
