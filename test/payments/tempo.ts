import { createServer } from 'node:http'
import { Mppx as MppxClient, tempo as tempoClient } from 'mppx/client'
import { Mppx, tempo } from 'mppx/server'
import {
  type Address,
  createClient,
  createTestClient,
  encodeFunctionData,
  type Hex,
  http,
  parseAbi,
} from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { sendTransactionSync } from 'viem/actions'
import { tempoModerato } from 'viem/tempo/chains'
import { closeServer, listen } from '../support/listen.ts'
import { startNode } from './chain.ts'

export const TEMPO = 'eip155:42431'
export const PATH_USD: Address = '0x20c0000000000000000000000000000000000000'
/** Another coin of the same kind, which counts as nothing. */
const ALPHA_USD: Address = '0x20c0000000000000000000000000000000000001'

const ABI = parseAbi([
  'function approve(address spender, uint256 value) returns (bool)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function transferWithMemo(address to, uint256 value, bytes32 memo)',
  'function transferFromWithMemo(address from, address to, uint256 value, bytes32 memo) returns (bool)',
])

/** anvil's well-known accounts: rich on every local chain, worthless elsewhere. */
export const accountOf = (addressIndex: number) =>
  mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex })

export interface Charge {
  amount: string
  /** Each buys once: the node takes a second such transaction of one wallet for the first. */
  buyer: number
  realm?: string
  mode?: 'push' | 'pull'
  isSponsored?: boolean
  /** Who gets a share. */
  split?: Address
}

/** The headers of a paid call, as a relay sees them. */
export interface PaidCall {
  authorization: string
  receipt: string
}

/** A chain in Tempo's mode; account 0 sponsors, 1 is robbed, 2 forges, the others buy. */
export async function startTempo(payout: Address) {
  const node = await startNode('--network', 'tempo', '--chain-id', '42431')
  const clientOf = (index: number) =>
    createClient({
      account: accountOf(index),
      chain: tempoModerato,
      transport: http(node.url),
      pollingInterval: 50,
    })
  // Its first block is of 1970: nothing is valid there yet.
  const test = createTestClient({ mode: 'anvil', transport: http(node.url) })
  await test.mine({ blocks: 1 })
  const send = (index: number, to: Address, data: Hex) =>
    sendTransactionSync(clientOf(index), { to, data } as never)
  return {
    ...node,
    charge: (wanted: Charge) => charge(wanted, payout, clientOf),
    startSeller: (terms: Terms) => startSeller(terms, payout, clientOf),
    forge: (memo: Hex) => forge(send, payout, memo),
  }
}

type Terms = Pick<Charge, 'amount' | 'realm' | 'isSponsored' | 'split'>

/** A seller by the official packages, over HTTP. */
async function startSeller(
  { amount, realm = '0.example', isSponsored = false, split }: Terms,
  recipient: Address,
  clientOf: (index: number) => unknown,
) {
  const seller = Mppx.create({
    methods: [
      tempo.charge({
        currency: PATH_USD,
        recipient,
        testnet: true,
        getClient: () => clientOf(0) as never,
        ...(isSponsored && { feePayer: accountOf(0) }),
        ...(split !== undefined && { splits: [{ amount: '0.0004', recipient: split }] }),
      }),
    ],
    secretKey: 'a secret of the test, at least thirty-two bytes long',
    realm,
  })
  const listener = Mppx.toNodeListener(seller.charge({ amount }))
  let sold = 0
  const server = createServer(async (req, res) => {
    if ((await listener(req, res)).status === 402) return
    sold += 1
    res.end('sold')
  })
  return {
    url: `http://127.0.0.1:${await listen(server)}/`,
    sold: () => sold,
    close: () => closeServer(server),
  }
}

/** One charge by the official packages. */
async function charge(
  { buyer, mode, ...terms }: Charge,
  recipient: Address,
  clientOf: (index: number) => unknown,
): Promise<PaidCall> {
  const seller = await startSeller(terms, recipient, clientOf)
  let authorization = ''
  const client = MppxClient.create({
    methods: [
      tempoClient.charge({
        account: accountOf(buyer),
        getClient: () => clientOf(buyer) as never,
        ...(mode !== undefined && { mode }),
      }),
    ],
    polyfill: false,
    fetch: (input, init) => {
      authorization = new Headers(init?.headers).get('authorization') ?? ''
      return fetch(input, init)
    },
  })
  const answer = await client.fetch(seller.url)
  seller.close()
  if (answer.status !== 200) throw new Error(`the seller answered ${answer.status}`)
  return { authorization, receipt: answer.headers.get('payment-receipt') ?? '' }
}

/** Memos and money that are not payment of the wallet they name. @param memo of a true payment */
async function forge(
  send: (index: number, to: Address, data: Hex) => Promise<unknown>,
  payout: Address,
  memo: Hex,
): Promise<void> {
  const stranger = accountOf(1).address
  const encode = encodeFunctionData
  const pay = (value: bigint, words: Hex) =>
    encode({ abi: ABI, functionName: 'transferWithMemo', args: [payout, value, words] })
  // In another coin, without a memo, with a memo of nobody's, and with nothing in it.
  await send(2, ALPHA_USD, pay(7_001n, memo))
  await send(2, PATH_USD, encode({ abi: ABI, functionName: 'transfer', args: [payout, 7_002n] }))
  await send(2, PATH_USD, pay(7_003n, `0x${'ef'.repeat(32)}`))
  await send(2, PATH_USD, pay(0n, memo))
  // A stranger's money, by what he once allowed.
  const allow = encode({ abi: ABI, functionName: 'approve', args: [accountOf(2).address, 10_000n] })
  await send(1, PATH_USD, allow)
  const args = [stranger, payout, 7_004n, memo] as const
  await send(2, PATH_USD, encode({ abi: ABI, functionName: 'transferFromWithMemo', args }))
}
