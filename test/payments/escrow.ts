import { AuthCaptureEvmScheme } from '@x402/evm/auth-capture/client'
import { type Address, encodeFunctionData, type Hex, maxUint256, parseAbi } from 'viem'
import { accountOf, type Chain, NETWORK, USDC } from './chain.ts'

export const ESCROW: Address = '0xf96815976523E00e65Be8f34cA5e64b4f41EB19c'
export const ESCROW_COLLECTOR: Address = '0x8612dfdc421f80336cd14E8EF9cb1E765dB5ab88'
export const OWN_ESCROW: Address = `0x${'1a'.repeat(20)}`
export const OWN_ESCROW_COLLECTOR: Address = `0x${'1b'.repeat(20)}`

const ABI = parseAbi([
  'struct Info { address operator; address payer; address receiver; address token; uint120 maxAmount; uint48 preApprovalExpiry; uint48 authorizationExpiry; uint48 refundExpiry; uint16 minFeeBps; uint16 maxFeeBps; address feeReceiver; uint256 salt; }',
  'function charge(Info info, uint256 amount, address collector, bytes data, uint256 fee, address feeTo)',
  'function authorize(Info info, uint256 amount, address collector, bytes data)',
  'function capture(Info info, uint256 amount, uint256 fee, address feeTo)',
  'function void(Info info)',
  'function refund(Info info, uint256 amount)',
  'function approve(address spender, uint256 value) returns (bool)',
])

interface Signed {
  authorization: { validBefore: string }
  signature: Hex
  salt: string
}

/** Account 0 is the operator, and whom the fee goes to; the payer is who is said to be. */
export async function openEscrow(chain: Chain, receiver: Address) {
  const operator = accountOf(0).address
  const send = async (data: Hex, to: Address = ESCROW) => {
    const wallet = chain.walletOf(0)
    const hash = await wallet.sendTransaction({ to, data, gas: 2_000_000n })
    const { status } = await wallet.waitForTransactionReceipt({ hash })
    if (status !== 'success') throw new Error('a call of the escrow was reverted')
    return hash
  }
  const approve = (spender: Address) =>
    send(
      encodeFunctionData({ abi: ABI, functionName: 'approve', args: [spender, maxUint256] }),
      USDC,
    )
  for (const one of [ESCROW, OWN_ESCROW_COLLECTOR]) await approve(one)
  /** What the official client signs for a price, and the same as the escrow names it. */
  const sign = async (buyer: number, price: bigint) => {
    const [captureDeadline, refundDeadline] = [4_000_000_000, 4_000_000_001]
    const accepted = {
      scheme: 'auth-capture',
      network: NETWORK,
      amount: price.toString(),
      asset: USDC,
      payTo: receiver,
      maxTimeoutSeconds: 300,
      extra: {
        name: 'USDC',
        version: '2',
        captureAuthorizer: operator,
        feeRecipient: operator,
        captureDeadline,
        refundDeadline,
        minFeeBps: 0,
        maxFeeBps: 10_000,
      },
    }
    const client = new AuthCaptureEvmScheme(accountOf(buyer))
    const made = await client.createPaymentPayload(2, accepted as never)
    const { authorization, signature, salt } = made.payload as unknown as Signed
    const info = {
      operator,
      payer: accountOf(buyer).address,
      receiver,
      token: USDC,
      maxAmount: price,
      preApprovalExpiry: Number(authorization.validBefore),
      authorizationExpiry: captureDeadline,
      refundExpiry: refundDeadline,
      minFeeBps: 0,
      maxFeeBps: 10_000,
      feeReceiver: operator,
      salt: BigInt(salt),
    }
    return { header: { ...made, accepted }, info, signature }
  }
  type Payment = Awaited<ReturnType<typeof sign>>
  const collect = (own: boolean) => (own ? OWN_ESCROW_COLLECTOR : ESCROW_COLLECTOR)
  return {
    sign,
    charge: (
      { info, signature }: Payment,
      { amount, fee = 0n, own = false, escrow = ESCROW }: Charge,
    ) =>
      send(
        encodeFunctionData({
          abi: ABI,
          functionName: 'charge',
          args: [info, amount, collect(own), signature, fee, operator],
        }),
        escrow,
      ),
    authorize: ({ info, signature }: Payment, amount: bigint, own = false) =>
      send(
        encodeFunctionData({
          abi: ABI,
          functionName: 'authorize',
          args: [info, amount, collect(own), signature],
        }),
      ),
    capture: ({ info }: Payment, amount: bigint, fee = 0n) =>
      send(
        encodeFunctionData({
          abi: ABI,
          functionName: 'capture',
          args: [info, amount, fee, operator],
        }),
      ),
    void: ({ info }: Payment) =>
      send(encodeFunctionData({ abi: ABI, functionName: 'void', args: [info] })),
    refund: ({ info }: Payment, amount: bigint) =>
      send(encodeFunctionData({ abi: ABI, functionName: 'refund', args: [info, amount] })),
  }
}

interface Charge {
  amount: bigint
  fee?: bigint
  /** Collected by the operator's own contract. */
  own?: boolean
  escrow?: Address
}
