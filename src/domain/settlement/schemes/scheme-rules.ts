import { authCapture } from './auth-capture.ts'
import { batchSettlement } from './batch-settlement.ts'
import type { ChannelRule } from './channel-rule.ts'
import { eip3009 } from './eip3009.ts'
import type { EvmRule } from './evm-rule.ts'
import { permit2 } from './permit2.ts'
import { tempoCharge } from './tempo-charge.ts'
import { tempoSession } from './tempo-session.ts'

/** How each scheme that counts is read on EVM chains; `schemes.ts` says why it may count. */
export const EVM_RULES = {
  eip3009,
  permit2,
  tempo_charge: tempoCharge,
} as const satisfies Record<string, EvmRule>

/** Schemes whose money waits in a contract, as the meter reads them. */
export const CHANNEL_RULES: readonly ChannelRule[] = [batchSettlement, authCapture, tempoSession]
