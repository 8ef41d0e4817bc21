import type { ChannelRule } from './channel-rule.ts'
import { RESERVE } from './contracts.ts'
import { addressAt, toAddress, wordAt } from './evm-log.ts'
import { isTempo } from './tempo-charge.ts'

/**
 * MPP `session` on Tempo: a buyer opens a channel with a seller in the chain's own reserve, and the
 * seller settles what was used, for many calls at once. Opening and topping up take the money of
 * the calling wallet, so the payer is proved. A close states the total taken, and writes no
 * `Settled` of its own for the last part.
 *
 * A forger could write the same events, but not at the reserve's address: it is part of the chain.
 * A deposit alone is not a payment, and the unused rest goes back.
 */
const TOPICS = {
  opened: '0xdebaba36f0e9c7978f536fed432d9360b1f9646d7ca88531c34c3eae43f154a7',
  toppedUp: '0x2a96f534665f3150977dd4c35d91373c74030288edbb3cf83c527dd25012364f',
  settled: '0x11c4e4c79ad8802431b44c15047ed1ddb82fbfc1abd452c765f7ee3990df1399',
  closed: '0x5613aed96d5bf39f928408dbe1d4143490b9bb5957eac2dd8e69b5dc4b2206e6',
} as const

export const tempoSession: ChannelRule = {
  id: 'tempo_session',
  mark: null,
  isOn: isTempo,
  contracts: [RESERVE],
  topics: Object.values(TOPICS),
  payingTopics: [],
  isPaidBy: () => false,
  read({ topics, data }, coin) {
    const [event, channel = '', from, to] = topics
    const nobody = { payer: null, payee: null }
    switch (event) {
      case TOPICS.opened: {
        const [payer, payee, amount] = [toAddress(from), toAddress(to), wordAt(data, 5)]
        return addressAt(data, 1) === coin
          ? { channel, kind: 'opened', amount, payer, payee }
          : null
      }
      case TOPICS.toppedUp:
        return { channel, kind: 'deposit', amount: wordAt(data, 0), ...nobody }
      case TOPICS.settled:
        return { channel, kind: 'claim', amount: wordAt(data, 1), ...nobody }
      case TOPICS.closed:
        return { channel, kind: 'close', amount: wordAt(data, 0), ...nobody }
      default:
        return null
    }
  },
}
