import type { ChannelEvent, ChannelRule } from './channel-rule.ts'
import { ESCROWS } from './contracts.ts'
import { addressAt, amountOf, type EvmLog, wordAt } from './evm-log.ts'
import { isTempo } from './tempo-charge.ts'

/**
 * x402 `auth-capture`: an operator holds a buyer's money in an escrow and captures it for the
 * seller, at once or later, all or in parts. Only what the seller got counts: after the operator's
 * fee, which may go back to the buyer, and less later refunds.
 *
 * A forger can be an operator and bring a collector of his own, which pays with his money and names
 * a stranger as the payer. So the collector must be one of the escrow's own: those move the payer's
 * money only by the payer's signature over exactly this payment.
 */
/** For 1.0, whose fee is in ten-thousandths. */
const FIRST_CHARGED = '0x943ae4341dd799d7aeedc501f616cd26b134639e0bc2ec059581ba3ebbf1e7d0'
const FIRST_CAPTURED = '0xe749f7bbd01b49bb05abf26ca492cb4dfdea6bedeada8a40fdccd478c73a74e2'
/** For 1.1, whose fee is an amount. */
const CHARGED = '0x137b0e73e4453f43c2e1ad2552980a0e0c7e988764619974ca26d37a7159940c'
const CAPTURED = '0xac1e0db1957daedbc6944bcb4c8dc947ff8101d710671ac2ec26309f7f38d58e'
const AUTHORIZED = '0x1c81fb2e3bab27f6bb09bee9a0dddf61600b7cbaf2c12683e4864e0cbdb9d284'

const KINDS = new Map<string, ChannelEvent['kind']>([
  [AUTHORIZED, 'opened'],
  [FIRST_CHARGED, 'charge'],
  [CHARGED, 'charge'],
  [FIRST_CAPTURED, 'claim'],
  [CAPTURED, 'claim'],
  // Voided, reclaimed, and refunded after a capture.
  ['0xcadce8c3acb008e3e1c64ca7f60d22a3c87069183182b7dbb9e4d8cfb3a15842', 'refund'],
  ['0x78e1d723d17e13b7f40eeab9bf6dd9148a630bafde4203ab7bb5fca983516d17', 'refund'],
  ['0x1bf415371b303ca6b8bbb4ce479b177cba5ad15dbe0c9a7750a588aa6bcd25b2', 'returned'],
])

/** Positions of fields in the terms of a payment, and of the outcome after them. */
const TERMS = { payer: 1, receiver: 2, token: 3, words: 12, collector: 13, fee: 14 } as const

export const authCapture: ChannelRule = {
  id: 'auth_capture',
  mark: 1,
  isOn: (network) => !isTempo(network),
  contracts: ESCROWS.map(({ contract }) => contract),
  topics: [...KINDS.keys()],
  payingTopics: [FIRST_CHARGED, CHARGED, FIRST_CAPTURED, CAPTURED],
  isPaidBy: (transfer, paying) =>
    paying.some((log) => log.logIndex < transfer.logIndex && paidBy(log) === amountOf(transfer)),
  read(log, coin) {
    const [event = '', channel = ''] = log.topics
    const kind = KINDS.get(event)
    if (kind === undefined) return null
    const terms = readTerms(log)
    const isPaid = kind === 'charge' || kind === 'claim'
    const amount = isPaid ? paidBy(log) : wordAt(log.data, terms === null ? 0 : TERMS.words)
    if (terms === null) return { channel, kind, amount, payer: null, payee: null }
    const { payer, payee, token, isOwnCollector } = terms
    return token === coin && isOwnCollector ? { channel, kind, amount, payer, payee } : null
  },
}

/** The payer and payee of a payment; known where its money is collected. */
function readTerms({ address, topics, data }: EvmLog) {
  if (![AUTHORIZED, FIRST_CHARGED, CHARGED].includes(topics[0] ?? '')) return null
  const collector = addressAt(data, TERMS.collector)
  return {
    payer: addressAt(data, TERMS.payer),
    payee: addressAt(data, TERMS.receiver),
    token: addressAt(data, TERMS.token),
    isOwnCollector: ESCROWS.some(
      ({ contract, collectors }) =>
        contract === address && collectors.some((own) => own === collector),
    ),
  }
}

const WHOLE = 10_000n

/** What the seller got of a charge or a capture. */
function paidBy({ topics: [event], data }: EvmLog): bigint {
  const isCharge = event === CHARGED || event === FIRST_CHARGED
  const amount = wordAt(data, isCharge ? TERMS.words : 0)
  const fee = wordAt(data, isCharge ? TERMS.fee : 1)
  const taken = event === CHARGED || event === CAPTURED ? fee : (amount * fee) / WHOLE
  return taken < amount ? amount - taken : 0n
}
