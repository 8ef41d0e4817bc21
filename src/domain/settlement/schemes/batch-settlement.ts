import type { ChannelEventKind, ChannelRule } from './channel-rule.ts'
import { CHANNELS } from './contracts.ts'
import { addressAt, toAddress, wordAt } from './evm-log.ts'
import { isTempo } from './tempo-charge.ts'

/**
 * x402 `batch-settlement`: a buyer deposits into a channel with a seller, and the seller claims
 * what was used, for many calls at once. A claim is final, so claims count, but only up to the
 * money that the named payer was seen to deposit.
 *
 * A forger can open a channel in a stranger's name: the contract takes any collector, and lets
 * another key sign for the payer. But the money is then his own, and no transfer from the stranger
 * precedes the deposit. A deposit alone is not a payment: the unclaimed rest goes back.
 */
export const CHANNEL_TOPICS = {
  opened: '0x69d8248d5566bdb2ebc4d218970710d8378a2ff9b709a999e052b71970f808fa',
  deposit: '0x6c2a09353b5e75e70d0b9778b80a413809bb235d46c211811c474b3346791d89',
  claim: '0x36bd546bb573e8921fdbfd934bbed62d872796b01792cd240cce27f79dd3eddd',
  refund: '0xa84286cf8ebc7903a663c77c8d99aa92b600d4c2fcca872a5d4a663db4eb394b',
  withdrawal: '0x546ce1e2242cd930c196bd08b894443562d709b4fffe4f028a75a6d233efc6e3',
} as const

export const batchSettlement: ChannelRule = {
  id: 'batch_settlement',
  mark: 0,
  isOn: (network) => !isTempo(network),
  contracts: CHANNELS.map(({ contract }) => contract),
  topics: Object.values(CHANNEL_TOPICS),
  payingTopics: [],
  isPaidBy: ({ topics }) => CHANNELS.some(({ contract }) => contract === toAddress(topics[1])),
  read({ topics, data }, coin) {
    const [event, channel = ''] = topics
    if (event === CHANNEL_TOPICS.opened) {
      const isOurs = addressAt(data, 4) === coin
      const [payer, payee] = [addressAt(data, 0), addressAt(data, 2)]
      return isOurs ? { channel, kind: 'opened', amount: 0n, payer, payee } : null
    }
    const kind = KINDS.get(event ?? '')
    if (kind === undefined) return null
    return { channel, kind, amount: wordAt(data, 0), payer: null, payee: null }
  },
}

const KINDS = new Map<string, ChannelEventKind>([
  [CHANNEL_TOPICS.deposit, 'deposit'],
  [CHANNEL_TOPICS.claim, 'claim'],
  [CHANNEL_TOPICS.refund, 'refund'],
  [CHANNEL_TOPICS.withdrawal, 'refund'],
])
