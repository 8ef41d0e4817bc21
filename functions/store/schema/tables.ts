import type { BASELINE } from '../migrations/0001-tables.ts'
import type { ACCESS, ASKED, CONTRACT_PROOFS, JOBS, MOVES } from '../migrations/0002-to-0006.ts'
import type { WatchTables } from '../migrations/0007-watches.ts'
import type { SCHEMES_SEEN } from '../migrations/0008-schemes.ts'
import type { RowsOf } from '../migrations/columns.ts'

/** The tables as the queries see them: what the migrations created, each with its own columns. */
export type Tables = Omit<
  RowsOf<typeof BASELINE & typeof ACCESS & typeof JOBS>,
  'lease' | 'mail_job'
> &
  RowsOf<typeof CONTRACT_PROOFS> &
  RowsOf<typeof ASKED> &
  RowsOf<typeof MOVES> &
  RowsOf<typeof SCHEMES_SEEN> &
  WatchTables

export type ChannelEventTable = Tables['channel_event']
export type ClaimTable = Tables['claim']
export type DeliveryTable = Tables['delivery']
export type DisputeTable = Tables['dispute']
export type MeterCursorTable = Tables['meter_cursor']
export type MeterPayerTable = Tables['meter_payer']
export type PayoutProofTable = Tables['payout_proof']
export type ProposalTable = Tables['proposal']
export type SellerTable = Tables['seller']
export type SettlementCheckTable = Tables['settlement_check']
export type UsageDayTable = Tables['usage_day']
export type WatchTable = Tables['watch']
