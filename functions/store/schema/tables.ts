import type { RowsOf } from '../migrations/columns.ts'
import type { PAYMENT_TABLES } from '../migrations/payment-tables.ts'
import type { TABLES } from '../migrations/tables.ts'

/** The tables as the queries see them, each with its own columns. */
export type Tables = RowsOf<typeof TABLES & typeof PAYMENT_TABLES>

export type ChannelEventTable = Tables['channel_event']
export type ClaimTable = Tables['claim']
export type DeliveryTable = Tables['delivery']
export type DisputeTable = Tables['dispute']
export type MeterCursorTable = Tables['meter_cursor']
export type MeterPayerTable = Tables['meter_payer']
export type PayoutProofTable = Tables['payout_proof']
export type ProposalTable = Tables['proposal']
export type SettlementCheckTable = Tables['settlement_check']
export type UsageDayTable = Tables['usage_day']
export type WatchTable = Tables['watch']
