import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  keccak256,
  maxUint256,
  parseAbi,
  zeroAddress,
  zeroHash,
} from 'viem'
import { AUTHORIZATION, accountOf, type Chain, USDC } from './chain.ts'

export const CHANNELS: Address = '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003'
export const COLLECTOR: Address = '0x4020806089470a89826cB9fB1f4059150b550004'
export const OWN_COLLECTOR: Address = `0x${'0d'.repeat(20)}`

const ABI = parseAbi([
  'struct Config { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'function deposit(Config config, uint128 amount, address collector, bytes data)',
  'function claim(Config config, uint128 total)',
  'function settle(address receiver, address token)',
  'function refund(Config config, uint128 amount)',
  'function set(address forger)',
  'function approve(address spender, uint256 value) returns (bool)',
])

/** One channel with a seller, in whoever's name it is; account 0 sends everything. */
export function openChannel(chain: Chain, payer: Address, receiver: Address, salt: Hex = zeroHash) {
  const config = {
    payer,
    payerAuthorizer: zeroAddress,
    receiver,
    receiverAuthorizer: accountOf(0).address,
    token: USDC,
    withdrawDelay: 900,
    salt,
  }
  const id = keccak256(
    encodeAbiParameters(
      [{ type: 'uint256' }, { type: 'address' }, { type: 'tuple', components: CONFIG }],
      [84532n, CHANNELS, config],
    ),
  )
  const send = async (data: Hex, to: Address = CHANNELS, from = 0) => {
    const wallet = chain.walletOf(from)
    const hash = await wallet.sendTransaction({ to, data, gas: 1_000_000n })
    const { status } = await wallet.waitForTransactionReceipt({ hash })
    if (status !== 'success') throw new Error('a channel call was reverted')
  }
  const deposit = (amount: bigint, collector: Address, data: Hex) =>
    send(
      encodeFunctionData({
        abi: ABI,
        functionName: 'deposit',
        args: [config, amount, collector, data],
      }),
    )
  return {
    /** Signed by the payer. */
    async deposit(buyer: number, amount: bigint) {
      const salt = BigInt(Date.now())
      const nonce = keccak256(
        encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [id, salt]),
      )
      const signature = await accountOf(buyer).signTypedData({
        domain: { name: 'USDC', version: '2', chainId: 84532, verifyingContract: USDC },
        types: { ReceiveWithAuthorization: AUTHORIZATION },
        primaryType: 'ReceiveWithAuthorization',
        message: {
          from: payer,
          to: COLLECTOR,
          value: amount,
          validAfter: 0n,
          validBefore: maxUint256,
          nonce,
        },
      })
      const words = [
        { type: 'uint256' },
        { type: 'uint256' },
        { type: 'uint256' },
        { type: 'bytes' },
      ]
      await deposit(
        amount,
        COLLECTOR,
        encodeAbiParameters(words, [0n, maxUint256, salt, signature]),
      )
    },
    /** With a forger's money, in the payer's name. */
    async forgeDeposit(forger: number, amount: bigint) {
      const approve = encodeFunctionData({
        abi: ABI,
        functionName: 'approve',
        args: [OWN_COLLECTOR, maxUint256],
      })
      await send(approve, USDC, forger)
      const set = encodeFunctionData({
        abi: ABI,
        functionName: 'set',
        args: [accountOf(forger).address],
      })
      await send(set, OWN_COLLECTOR)
      await deposit(amount, OWN_COLLECTOR, '0x')
    },
    claim: (total: bigint) =>
      send(encodeFunctionData({ abi: ABI, functionName: 'claim', args: [config, total] })),
    refund: (amount: bigint) =>
      send(encodeFunctionData({ abi: ABI, functionName: 'refund', args: [config, amount] })),
    settle: () =>
      send(encodeFunctionData({ abi: ABI, functionName: 'settle', args: [receiver, USDC] })),
  }
}

const CONFIG = [
  { name: 'payer', type: 'address' },
  { name: 'payerAuthorizer', type: 'address' },
  { name: 'receiver', type: 'address' },
  { name: 'receiverAuthorizer', type: 'address' },
  { name: 'token', type: 'address' },
  { name: 'withdrawDelay', type: 'uint40' },
  { name: 'salt', type: 'bytes32' },
] as const
