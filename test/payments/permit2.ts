import { ExactEvmScheme, permit2WitnessTypes, toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme as ExactFacilitator } from '@x402/evm/exact/facilitator'
import { UptoEvmScheme } from '@x402/evm/upto/client'
import { UptoEvmScheme as UptoFacilitator } from '@x402/evm/upto/facilitator'
import { type Address, encodeFunctionData, type Hex, maxUint256, parseAbi } from 'viem'
import { accountOf, type Chain, NETWORK, USDC } from './chain.ts'

const PERMIT2: Address = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
const EXACT_PROXY: Address = '0x402085c248EeA27D92E8b30b2C58ed07f9E20001'

const ABI = parseAbi([
  'function approve(address spender, uint256 value) returns (bool)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function set(address real, address pool)',
  'function run(address[] targets, bytes[] data)',
  'struct Permitted { address token; uint256 amount; }',
  'struct Permit { Permitted permitted; uint256 nonce; uint256 deadline; }',
  'struct Witness { address to; uint256 validAfter; }',
  'function settle(Permit permit, address owner, Witness witness, bytes signature)',
])

/** The buyer is account 1, the facilitator 0, a stranger and forger 2. */
export async function openPermit2(chain: Chain) {
  const facilitatorWallet = chain.walletOf(0)
  const signer = toFacilitatorEvmSigner(
    Object.assign(facilitatorWallet, { address: facilitatorWallet.account.address }) as never,
  )
  const facilitators = { exact: new ExactFacilitator(signer), upto: new UptoFacilitator(signer) }
  const clients = {
    exact: new ExactEvmScheme(accountOf(1)),
    upto: new UptoEvmScheme(accountOf(1)),
  }
  const send = async (from: number, to: Address, data: Hex) => {
    const wallet = chain.walletOf(from)
    const hash = await wallet.sendTransaction({ to, data, gas: 1_000_000n })
    return wallet.waitForTransactionReceipt({ hash })
  }
  const call = (functionName: 'approve', args: readonly [Address, bigint]) =>
    encodeFunctionData({ abi: ABI, functionName, args })
  for (const one of [1, 2]) {
    await chain.mint(accountOf(one).address, 10_000_000n)
    await send(one, USDC, call('approve', [PERMIT2, maxUint256]))
  }
  const requirementsOf = (scheme: 'exact' | 'upto', payTo: Address, amount: bigint) => ({
    scheme,
    network: NETWORK,
    amount: amount.toString(),
    asset: USDC,
    payTo,
    maxTimeoutSeconds: 300,
    extra: {
      name: 'USDC',
      version: '2',
      assetTransferMethod: 'permit2',
      facilitatorAddress: facilitatorWallet.account.address,
    },
  })
  const sign = async (scheme: 'exact' | 'upto', payTo: Address, amount: bigint) => {
    const accepted = requirementsOf(scheme, payTo, amount)
    const made = await clients[scheme].createPaymentPayload(2, accepted as never)
    return { ...made, accepted }
  }
  const settle = async (payment: Awaited<ReturnType<typeof sign>>, amount: bigint) => {
    const { accepted } = payment
    const terms = { ...accepted, amount: amount.toString() }
    const done = await facilitators[accepted.scheme].settle(payment as never, terms as never)
    if (!done.success) throw new Error(done.errorReason)
    return done
  }
  return { sign, settle, forge: (at: Forgery) => forge(chain, send, at) }
}

/** A permit for the exact proxy as no package would sign it: any coin, any amount. */
function signPermit(
  index: number,
  { token, amount, to, nonce }: { token: Address; amount: bigint; to: Address; nonce: bigint },
): Promise<Hex> {
  return accountOf(index).signTypedData({
    domain: { name: 'Permit2', chainId: 84532, verifyingContract: PERMIT2 },
    types: permit2WitnessTypes,
    primaryType: 'PermitWitnessTransferFrom',
    message: {
      permitted: { token, amount },
      spender: EXACT_PROXY,
      nonce,
      deadline: maxUint256,
      witness: { to, validAfter: 0n },
    },
  })
}

interface Forgery {
  payout: Address
  ownProxy: Address
  ownCoin: Address
  bundle: Address
}

type Send = (from: number, to: Address, data: Hex) => Promise<{ status: string }>

/** Real money that reaches the seller in ways that are not payment of the buyer's. */
async function forge(chain: Chain, send: Send, at: Forgery): Promise<void> {
  const stranger = accountOf(1).address
  const encode = encodeFunctionData
  const settle = (
    token: Address,
    amount: bigint,
    owner: Address,
    to: Address,
    signature: Hex,
    nonce = 7n,
  ) =>
    encode({
      abi: ABI,
      functionName: 'settle',
      args: [
        { permitted: { token, amount }, nonce, deadline: maxUint256 },
        owner,
        { to, validAfter: 0n },
        signature,
      ],
    })
  const must = async (sent: Promise<{ status: string }>, expected = 'success') => {
    const { status } = await sent
    if (status !== expected) throw new Error(`a forgery was ${status}`)
  }
  // A proxy of his own that a stranger once approved, with the same event.
  await must(
    send(1, USDC, encode({ abi: ABI, functionName: 'approve', args: [at.ownProxy, maxUint256] })),
  )
  await must(send(2, at.ownProxy, settle(USDC, 3_000n, stranger, at.payout, '0x')))
  // The true proxy, with a coin of his own that makes a pool pay in real ones.
  await must(
    send(1, USDC, encode({ abi: ABI, functionName: 'approve', args: [at.ownCoin, maxUint256] })),
  )
  await must(send(2, at.ownCoin, encode({ abi: ABI, functionName: 'set', args: [USDC, stranger] })))
  const own = await signPermit(2, { token: at.ownCoin, amount: 4_000n, to: at.payout, nonce: 11n })
  await must(
    send(2, EXACT_PROXY, settle(at.ownCoin, 4_000n, accountOf(2).address, at.payout, own, 11n)),
  )
  // Nothing, signed and settled.
  const nothing = await signPermit(2, { token: USDC, amount: 0n, to: at.payout, nonce: 12n })
  await must(send(2, EXACT_PROXY, settle(USDC, 0n, accountOf(2).address, at.payout, nothing, 12n)))
  // A true payment hidden in a bundle: it is not seen, and nothing is guessed of it.
  const hidden = await signPermit(2, { token: USDC, amount: 5_000n, to: at.payout, nonce: 13n })
  const inner = settle(USDC, 5_000n, accountOf(2).address, at.payout, hidden, 13n)
  await must(
    send(2, at.bundle, encode({ abi: ABI, functionName: 'run', args: [[EXACT_PROXY], [inner]] })),
  )
  // Ordinary transfers, and one whose settlement failed.
  await chain.transfer(2, at.payout, 6_000n)
  await must(
    send(2, EXACT_PROXY, settle(USDC, 9_000n, stranger, at.payout, hidden, 14n)),
    'reverted',
  )
}
