import { createServer } from 'node:http'
import { tempo as tempoClient } from 'mppx/client'
import { Mppx, Store, tempo } from 'mppx/server'
import { createClient, createTestClient, custom, encodeFunctionData, http, parseAbi } from 'viem'
import { sendTransactionSync } from 'viem/actions'
import { tempoModerato } from 'viem/tempo/chains'
import { compile } from './chain.ts'
import { accountOf, PATH_USD, RESERVE } from './tempo.ts'

const ABI = parseAbi([
  'function approve(address spender, uint256 value) returns (bool)',
  'function expect(bytes32 hash)',
])

/**
 * One session by the official packages: a buyer opens it, calls a few times and closes it. Account 0
 * sells. The node has no reserve of its own: ours is told before what the chain would tell it, the
 * hash of the transaction that opens the channel, and buyers allow it to take their money.
 *
 * @returns what the client sent, in order
 */
export async function paySession(url: string, { buyer, calls }: { buyer: number; calls: number }) {
  const clientOf = (index: number) => createRoomyClient(url, index)
  const call = (index: number, to: typeof RESERVE, data: `0x${string}`) =>
    sendTransactionSync(clientOf(index), { to, data } as never)
  const bytecode = compile('packaged-reserve.sol').PackagedReserve ?? '0x'
  await createTestClient({ mode: 'anvil', transport: http(url) }).setCode({
    address: RESERVE,
    bytecode,
  })
  const allowed = encodeFunctionData({
    abi: ABI,
    functionName: 'approve',
    args: [RESERVE, 10n ** 9n],
  })
  await call(buyer, PATH_USD, allowed)
  const shop = await openShop(clientOf(0))
  const sent: string[] = []
  const manager = tempoClient.session.manager({
    account: accountOf(buyer),
    client: clientOf(buyer) as never,
    maxDeposit: '1',
    fetch: async (input, init) => {
      const authorization = new Headers(init?.headers).get('authorization')
      const payload = authorization === null ? null : readPayload(authorization)
      if (payload !== null) sent.push(`${payload.action} ${payload.cumulativeAmount}`)
      if (payload?.action === 'open') {
        const args = [payload.descriptor.expiringNonceHash] as const
        await call(0, RESERVE, encodeFunctionData({ abi: ABI, functionName: 'expect', args }))
      }
      return fetch(input, init)
    },
  })
  for (let n = 0; n < calls; n += 1) {
    const { status } = await manager.fetch(shop.url)
    if (status !== 200) throw new Error(`the seller answered ${status}`)
  }
  await manager.close()
  shop.close()
  return sent
}

async function openShop(client: ReturnType<typeof createRoomyClient>) {
  const price = { amount: '0.001', unitType: 'call', suggestedDeposit: '0.05' }
  const seller = Mppx.create({
    methods: [
      tempo.session({
        ...price,
        currency: PATH_USD,
        recipient: accountOf(0).address,
        account: accountOf(0),
        testnet: true,
        getClient: () => client as never,
        store: Store.memory(),
      }),
    ],
    secretKey: 'a secret of the test, at least thirty-two bytes long',
    realm: '0.example',
  })
  const listener = Mppx.toNodeListener(seller.session(price))
  const server = createServer(async (req, res) => {
    if ((await listener(req, res)).status !== 402 && !res.writableEnded) res.end('sold')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The node thinks a transaction that opens a channel takes less gas than it does. */
function createRoomyClient(url: string, index: number) {
  const node = http(url)({})
  const transport = custom({
    request: async (asked: { method: string }) => {
      const answer = await node.request(asked as never)
      const filled = asked.method === 'eth_fillTransaction' ? (answer as Filled) : null
      if (filled !== null) filled.tx.gas = `0x${(BigInt(filled.tx.gas) * 8n).toString(16)}`
      return answer
    },
  })
  const account = accountOf(index)
  return createClient({ account, chain: tempoModerato, transport, pollingInterval: 50 })
}

interface Filled {
  tx: { gas: string }
}

interface Payload {
  action: string
  cumulativeAmount: string
  descriptor: { expiringNonceHash: `0x${string}` }
}

function readPayload(authorization: string): Payload {
  const text = Buffer.from(authorization.replace(/^Payment\s+/i, ''), 'base64url').toString()
  return JSON.parse(text).payload
}
