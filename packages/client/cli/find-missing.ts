import { AUTHORIZATION_USED_TOPIC } from '../../../src/domain/settlement/schemes/eip3009.ts'
import {
  CallSchema,
  type EvmLog,
  TRANSFER_TOPIC,
  toTopic,
} from '../../../src/domain/settlement/schemes/evm-log.ts'
import type { EvmRule } from '../../../src/domain/settlement/schemes/evm-rule.ts'
import { EVM_RULES } from '../../../src/domain/settlement/schemes/scheme-rules.ts'
import {
  isTempo,
  MEMO_TRANSFER_TOPIC,
  markOfRealm,
  readRealmOf,
} from '../../../src/domain/settlement/schemes/tempo-charge.ts'
import { type Ask, inSteps, placeOf, readLogs } from './ask-node.ts'
import { type Claim, findUnknownClaims } from './check-channels.ts'

/** Not searched for: payments without a trace in the files or on the seller's side of the chain. */
export const NOT_MISSED =
  'Missing rows are looked for up to the newest row of the chain: of channels and escrows, those opened in the 30 days whose contract paid the seller in them; on Tempo, charges for the listing’s own host.'

interface Looked {
  ask: Ask
  network: string
  coin: string
  head: number
  newest: number
  wallets: readonly string[]
  range: { from: number; to: number }
  known: ReadonlySet<string>
  host: string
}

/** Payments missing from the rows; those out of channels as claims. */
export async function findMissing(looked: Looked): Promise<{ faults: string[]; claims: Claim[] }> {
  if (looked.wallets.length === 0 || looked.coin === '') return { faults: [], claims: [] }
  const findIn = isTempo(looked.network) ? findMemoPayments : findTokenPayments
  const faults: string[] = []
  const unexplained: EvmLog[] = []
  for (const range of inSteps(looked.range)) {
    const found = await findIn({ ...looked, range })
    for (const log of found.paid) faults.push(`${placeOf(log)}: the rows do not have this payment`)
    for (const log of found.unexplained) unexplained.push(log)
  }
  return { faults, claims: await findUnknownClaims({ ...looked, unexplained }) }
}

interface Found {
  paid: EvmLog[]
  /** Transfers that are not proof of a payment by themselves. */
  unexplained: EvmLog[]
}

async function findTokenPayments(looked: Looked): Promise<Found> {
  const { ask, coin, wallets, range, known } = looked
  const to = wallets.map(toTopic)
  const received = await readLogs(ask, coin, [TRANSFER_TOPIC, null, to], range)
  const unknown = received.filter((log) => !known.has(placeOf(log)))
  const payers = [...new Set(unknown.flatMap(({ topics }) => topics[1] ?? []))]
  const uses =
    payers.length === 0 ? [] : await readLogs(ask, coin, [AUTHORIZATION_USED_TOPIC, payers], range)
  const signed = EVM_RULES.eip3009.read({ logs: [...unknown, ...uses], call: null, coin })
  const isSigned = new Set(signed.map(({ log }) => log))
  const rest = unknown.filter((log) => !isSigned.has(log))
  const permitted = await readCalls(ask, EVM_RULES.permit2, rest, coin)
  const isPermitted = new Set(permitted)
  return {
    paid: [...isSigned, ...permitted],
    unexplained: rest.filter((log) => !isPermitted.has(log)),
  }
}

async function findMemoPayments(looked: Looked): Promise<Found> {
  const { ask, coin, wallets, range, known, host } = looked
  const topics = [MEMO_TRANSFER_TOPIC, null, wallets.map(toTopic), null]
  const unknown = (await readLogs(ask, coin, topics, range)).filter(
    (log) => !known.has(placeOf(log)) && readRealmOf(log, coin) === toMark(host),
  )
  const paid = await readCalls(ask, EVM_RULES.tempo_charge, unknown, coin)
  return { paid, unexplained: [] }
}

/** The transfers that are payments according to the call of their transaction. */
async function readCalls(ask: Ask, rule: EvmRule, transfers: readonly EvmLog[], coin: string) {
  const paid: EvmLog[] = []
  for (const [hash, logs] of Map.groupBy(transfers, (log) => log.transactionHash)) {
    const call = await ask('eth_getTransactionByHash', [hash], CallSchema)
    for (const { log } of rule.read({ logs, call, coin })) paid.push(log)
  }
  return paid
}

/** A realm never names a port. */
export function toMark(host: string): string {
  return markOfRealm(host.replace(/:\d+$/, ''))
}
