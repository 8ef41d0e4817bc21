import { authorizationMarkOf } from '../../src/domain/receipts/delivered.ts'
import { amountOf, TRANSFER_TOPIC } from '../../src/domain/settlement/schemes/evm-log.ts'
import type { ShownPayment } from '../../src/domain/settlement/schemes/evm-rule.ts'
import type { Settlement, Transfer } from '../../src/domain/settlement/settlement.ts'
import {
  type Block,
  type EvmChain,
  needBlock,
  readTimes,
  type TimedLog,
  timeOf,
  toTransfer,
} from '../settlements/evm-chain.ts'
import { RpcError } from '../settlements/json-rpc.ts'
import type { MeterCursorTable } from '../store/store.ts'
import { type ChainWork, toUsd } from './meter-world.ts'
import { type Reading, readPaidLogs } from './paid-logs.ts'

/** What one range of blocks contains about some payouts. */
export interface SeenRange {
  from: number
  /** Its last block. */
  edge: Block
  payments: Settlement[]
  /** What the payouts sent on. */
  sent: Transfer[]
  /** By wallet, the first block where it paid somebody else by the same means. */
  paidOthers: ReadonlyMap<string, number>
}

/** A remembered block has left the chain. */
export class Reorganised extends Error {
  override name = 'Reorganised'
  readonly block: number

  constructor(block: number) {
    super(`block ${block} has left the chain`)
    this.block = block
  }
}

/**
 * Reads one range between two checks of its last block: nothing where the chain changed.
 *
 * @throws RpcError when the node cannot answer or contradicts itself; Reorganised as it says
 */
export async function readRange(
  { work, chain, ranges }: Reading,
  group: readonly MeterCursorTable[],
  range: { from: number; to: number },
): Promise<SeenRange> {
  const edge = await needBlock(chain, range.to)
  if (edge.at > work.clock.now() + MOST_AHEAD_MS)
    throw new RpcError(`block ${edge.number} has a time in the future`)
  await assertRemembered(work, chain, range.from - 1)
  await assertRemembered(work, chain, range.to, edge)
  const wallets = group.map(({ payout }) => payout)
  const { paid, paidOthers } = await readPaidLogs({ work, chain, ranges }, wallets, range)
  const gone = await ranges.logsOf(wallets, range, (some) => [TRANSFER_TOPIC, some, null])
  const sent = gone.filter(isMoney)
  const times = await readTimes(chain, [...paid.map(({ log }) => log), ...sent], edge)
  if ((await needBlock(chain, range.to)).hash !== edge.hash)
    throw new RpcError('the chain was reorganised while it was read')
  return {
    from: range.from,
    edge,
    payments: paid.map((payment) => toSettlement(payment, work, times)),
    sent: sent.map((log) => toTransfer(log, work.network, timeOf(log, times))),
    paidOthers,
  }
}

/** Chains' clocks may run a little ahead of ours. */
const MOST_AHEAD_MS = 15 * 60_000

/** @param there the block on the chain, when it was just read */
async function assertRemembered(
  { store, network }: ChainWork,
  chain: EvmChain,
  number: number,
  there?: Block,
): Promise<void> {
  const remembered = await store.db
    .selectFrom('meter_block')
    .select('hash')
    .where((eb) => eb.and({ network, number }))
    .executeTakeFirst()
  if (remembered === undefined) return
  const { hash } = there ?? (await needBlock(chain, number))
  if (hash !== remembered.hash) throw new Reorganised(number)
}

/** Anybody can make a transfer of zero in anybody's name. */
export function isMoney(log: TimedLog): boolean {
  return amountOf(log) > 0n
}

function toSettlement(
  { log, payer, scheme, consent }: ShownPayment<TimedLog>,
  { network, asset }: ChainWork,
  times: ReadonlyMap<number, number>,
): Settlement {
  const { from: _, to, from_contract, ...moved } = toTransfer(log, network, timeOf(log, times))
  const usd = toUsd(amountOf(log), asset)
  const nonce = scheme === 'eip3009' ? consent.topics[2] : undefined
  const authorization =
    nonce === undefined ? null : authorizationMarkOf({ network, payee: to, payer }, nonce)
  return { ...moved, payer, payee: to, usd, listing_id: '', scheme, authorization }
}
