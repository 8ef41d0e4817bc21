import type { EvmCall, EvmLog } from './evm-log.ts'
import type { CountedScheme } from './schemes.ts'

/** Data of one transaction, or as much of it as was read. */
export interface Shown<Log extends EvmLog> {
  logs: readonly Log[]
  /** Only read for the schemes that need it. */
  call: EvmCall | null
  /** The coin's contract. */
  coin: string
}

export interface ShownPayment<Log extends EvmLog> {
  scheme: CountedScheme
  /** The log that moved the money. */
  log: Log
  payer: string
  /** The log that proves the payer's consent: the same one, or one next to it. */
  consent: Log
}

/** How to read a scheme whose payments are one transfer each. */
export interface EvmRule {
  read<Log extends EvmLog>(shown: Shown<Log>): ShownPayment<Log>[]
}
