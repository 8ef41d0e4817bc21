import { describe, expect, test } from 'vitest'
import { judgeEvmSettlement } from '../../src/domain/settlement/evm-settlement.ts'
import type { EvmReceipt } from '../../src/domain/settlement/schemes/evm-log.ts'
import { usdAssetOf } from '../../src/domain/settlement/usd-assets.ts'
import {
  BLOCK_HASH,
  CLAIM,
  HASH,
  NETWORK,
  NONCE,
  PAYER,
  PAYOUT,
  parseLogs,
  type rawLog,
  TOKEN,
  transferLog,
  usedLog,
  wallet,
} from './samples.ts'

const asset = { address: TOKEN, decimals: 6 }
const FACTS = {
  head: 111,
  block: { hash: BLOCK_HASH, at: 1_700_000_000_000 },
  confirmations: 12,
}

function judge(
  logs: ReturnType<typeof rawLog>[],
  changes: Partial<EvmReceipt> = {},
  facts = FACTS,
  rules: Parameters<typeof judgeEvmSettlement>[3] = { payouts: [PAYOUT], asset },
) {
  const receipt = {
    transactionHash: HASH,
    blockHash: BLOCK_HASH,
    blockNumber: 100,
    status: '0x1',
    logs: parseLogs(logs),
    ...changes,
  }
  const verdict = judgeEvmSettlement(CLAIM, { receipt, call: null }, facts, rules)
  return verdict.outcome === 'counted' ? verdict.settlement : `${verdict.outcome} ${verdict.reason}`
}

describe('an EVM settlement', () => {
  const TRUE = [usedLog(0), transferLog(1)]

  test('counts what the logs show', () => {
    expect(judge(TRUE)).toEqual({
      network: NETWORK,
      transaction: HASH,
      log_index: 1,
      payer: PAYER,
      payee: PAYOUT,
      usd: 0.001,
      amount: '1000',
      at: 1_700_000_000_000,
      block: 100,
      scheme: 'eip3009',
    })
  })

  test.each([
    ['no transfer', [usedLog(0)], 'refused consent_not_found'],
    ['a transfer without the authorisation’s use', [transferLog(1)], 'refused consent_not_found'],
    [
      'another nonce',
      [usedLog(0, `0x${'11'.repeat(32)}`), transferLog(1)],
      'refused consent_not_found',
    ],
    [
      'a nonce used by another',
      [usedLog(0, NONCE, wallet(1)), transferLog(1)],
      'refused consent_not_found',
    ],
    [
      'a nonce used at another token',
      [usedLog(0, NONCE, PAYER, wallet(2)), transferLog(1)],
      'refused consent_not_found',
    ],
    [
      'another payer',
      [usedLog(0), transferLog(1, { from: wallet(1) })],
      'refused consent_not_found',
    ],
    [
      'another payee',
      [usedLog(0), transferLog(1, { to: wallet(1) })],
      'refused no_matching_transfer',
    ],
    ['less', [usedLog(0), transferLog(1, { amount: 999 })], 'refused no_matching_transfer'],
    ['more', [usedLog(0), transferLog(1, { amount: 1001 })], 'refused no_matching_transfer'],
    [
      'a token of the seller’s own',
      [usedLog(0), transferLog(1, { address: wallet(3) })],
      'refused consent_not_found',
    ],
    [
      'an older transfer in the same batch',
      [transferLog(0), usedLog(1)],
      'refused consent_not_found',
    ],
    ['nothing', [], 'refused consent_not_found'],
  ])('with %s does not', (_name, logs, expected) => {
    expect(judge(logs)).toBe(expected)
  })

  test('a transfer with an indexed amount is no ERC-20 transfer', () => {
    const nft = transferLog(1)
    nft.topics.push(`0x${'0'.repeat(63)}1`)
    expect(judge([usedLog(0), nft])).toBe('refused consent_not_found')
  })

  test('a failed transaction does not count', () => {
    expect(judge(TRUE, { status: '0x0' })).toBe('refused transaction_failed')
  })

  test('a chain without an allowed coin does not count', () => {
    expect(judge(TRUE, {}, FACTS, { payouts: [PAYOUT], asset: null })).toBe(
      'refused asset_not_allowed',
    )
  })

  test('the last confirmation makes it count', () => {
    expect(judge(TRUE, {}, { ...FACTS, head: 110 })).toBe('wait too_few_confirmations')
    expect(judge(TRUE, {}, { ...FACTS, head: 111 })).toMatchObject({ amount: '1000' })
  })

  test('a reorganised block waits', () => {
    const block = { ...FACTS.block, hash: `0x${'00'.repeat(32)}` }
    expect(judge(TRUE, {}, { ...FACTS, block })).toBe('wait reorganised')
  })

  test('in a batch each authorisation has the transfer after it', () => {
    const other = `0x${'11'.repeat(32)}`
    const logs = [usedLog(0, other), transferLog(1), usedLog(2), transferLog(3)]
    expect(judge(logs)).toMatchObject({ log_index: 3 })
  })

  test('test coins count only under the trial setting', () => {
    expect(usdAssetOf(NETWORK, { allowTestCoins: false })).toBeNull()
    expect(usdAssetOf(NETWORK, { allowTestCoins: true })).toEqual(asset)
    expect(usdAssetOf('eip155:8453', { allowTestCoins: false })).not.toBeNull()
  })
})

describe('a Permit2 settlement', () => {
  const UPTO = '0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002'
  const claim = { ...CLAIM, scheme: 'permit2', amount: '5000', nonce: '77' } as const
  const word = (value: string | number) =>
    (typeof value === 'number' ? value.toString(16) : value.slice(2)).padStart(64, '0')
  const callOf = (changes: { to?: string; words?: Record<number, string | number> } = {}) => {
    const said = { 0: TOKEN, 1: 5000, 2: 77, 3: 9, 4: 1000, 5: PAYER, 6: PAYOUT, ...changes.words }
    const input = `0xff11e7b4${Object.values(said).map(word).join('')}`
    return { hash: HASH, blockHash: BLOCK_HASH, from: wallet(9), to: changes.to ?? UPTO, input }
  }
  const judgeCall = (call: ReturnType<typeof callOf> | null, logs = [transferLog(0)]) => {
    const receipt = {
      transactionHash: HASH,
      blockHash: BLOCK_HASH,
      blockNumber: 100,
      status: '0x1',
      logs: parseLogs(logs),
    }
    const rules = { payouts: [PAYOUT], asset }
    const verdict = judgeEvmSettlement(claim, { receipt, call }, FACTS, rules)
    return verdict.outcome === 'counted' ? verdict.settlement.amount : verdict.reason
  }

  test('counts what was taken of what was permitted', () => {
    expect(judgeCall(callOf())).toBe('1000')
  })

  test.each([
    ['no call was found', null, 'consent_not_found'],
    ['another contract was called', callOf({ to: wallet(3) }), 'consent_not_found'],
    ['another nonce was used', callOf({ words: { 2: 78 } }), 'consent_not_found'],
    ['another wallet paid', callOf({ words: { 5: wallet(3) } }), 'consent_not_found'],
    [
      'more was permitted than the caller signed',
      callOf({ words: { 1: 9000 } }),
      'no_matching_transfer',
    ],
    ['another coin was moved', callOf({ words: { 0: wallet(3) } }), 'consent_not_found'],
    ['another seller was paid', callOf({ words: { 6: wallet(3) } }), 'consent_not_found'],
    ['another amount was moved', callOf({ words: { 4: 999 } }), 'consent_not_found'],
  ])('does not count where %s', (_name, call, reason) => {
    expect(judgeCall(call)).toBe(reason)
  })

  test('does not count what is more than was permitted', () => {
    const much = [transferLog(0, { amount: 6000 })]
    expect(judgeCall(callOf({ words: { 4: 6000 } }), much)).toBe('consent_not_found')
  })
})
