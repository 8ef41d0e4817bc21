import type { EvmCall, EvmLog } from './evm-log.ts'
import type { CountedScheme } from './schemes.ts'

/** What one transaction shows, or as much of it as was read. */
export interface Shown<Log extends EvmLog> {
  logs: readonly Log[]
  /** Read for the schemes that need it alone. */
  call: EvmCall | null
  /** The coin's contract. */
  coin: string
}

export interface ShownPayment<Log extends EvmLog> {
  scheme: CountedScheme
  /** What moved the money. */
  log: Log
  payer: string
  /** What says that the payer agreed: the same log, or one beside it. */
  consent: Log
}

/** How a scheme is read whose payments are one transfer each. */
export interface EvmRule {
  read<Log extends EvmLog>(shown: Shown<Log>): ShownPayment<Log>[]
}
