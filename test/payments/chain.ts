import { spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  type Address,
  createPublicClient,
  createTestClient,
  createWalletClient,
  type Hex,
  http,
  parseAbi,
  publicActions,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { baseSepolia } from 'viem/chains'
import { findFreePort } from '../support/free-port.ts'

/** Where every package expects USDC, and Multicall3, on this chain id. */
export const USDC: Address = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const MULTICALL: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'
export const NETWORK = 'eip155:84532'

/** The program that runs a chain, of the packages for this machine; null where they have none. */
const ANVIL = findAnvil()
if (ANVIL === null) {
  const machine = `${process.platform} ${process.arch}`
  console.warn(
    `test/payments: skipped: npm ci installed no program of @foundry-rs/anvil for ${machine}`,
  )
}
/** What these tests need beyond packages that run everywhere. */
export const hasChain = ANVIL !== null

function findAnvil(): string | null {
  const { platform, arch } = process
  const name = `anvil-${platform}-${arch === 'x64' ? 'amd64' : arch}`
  try {
    const program = platform === 'win32' ? 'anvil.exe' : 'anvil'
    return createRequire(import.meta.url).resolve(`@foundry-rs/${name}/bin/${program}`)
  } catch {
    return null
  }
}

/** anvil's well-known accounts: rich on every local chain, worthless elsewhere. */
const KEYS: Hex[] = [
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
]
export const accountOf = (index: number) => privateKeyToAccount(KEYS[index] ?? '0x')
export const keyOf = (index: number) => KEYS[index] ?? '0x'

export interface Chain {
  url: string
  balanceOf(address: Address): Promise<bigint>
  mint(to: Address, amount: bigint): Promise<void>
  /** The account's own transfer, outside any payment. */
  transfer(from: number, to: Address, amount: bigint): Promise<Hex>
  /** A transfer as any address, by the chain's leave. */
  transferAs(from: Address, to: Address, amount: bigint): Promise<void>
  walletOf(index: number): ReturnType<typeof createWallet>
  /** Puts a contract of a Solidity file beside this one at an address. */
  put(file: string, contracts: Record<string, Address>): Promise<void>
  /** Empty blocks. */
  mine(blocks: number): Promise<void>
  /** What a chain forgets when it takes blocks back: all since the mark. */
  snapshot(): Promise<{ revert(): Promise<void> }>
  stop(): Promise<void>
}

const ABI = parseAbi([
  'function mint(address to, uint256 value)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function balanceOf(address) view returns (uint256)',
])

/** A node of a chain of its own. */
export async function startNode(
  ...options: string[]
): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await findFreePort()
  const anvil = spawn(ANVIL ?? '', ['--port', String(port), '--quiet', ...options], {
    stdio: 'ignore',
  })
  const url = `http://127.0.0.1:${port}`
  const reader = createPublicClient({ transport: http(url) })
  await waitFor(() => reader.getBlockNumber())
  const stop = async () => {
    anvil.kill()
    if (anvil.exitCode === null) await once(anvil, 'exit')
  }
  return { url, stop }
}

/** A chain of its own with the token in place. */
export async function startChain(): Promise<Chain> {
  const { url, stop } = await startNode('--chain-id', '84532')
  const transport = http(url)
  const reader = createPublicClient({ chain: baseSepolia, transport })
  const test = createTestClient({ mode: 'anvil', chain: baseSepolia, transport })
  const put = async (file: string, contracts: Record<string, Address>) => {
    const codes = codesOf(file)
    for (const [name, address] of Object.entries(contracts))
      await test.setCode({ address, bytecode: codes[name] ?? '0x' })
  }
  await put('test-usdc.sol', { TestUsdc: USDC, TestMulticall: MULTICALL })
  const write = async (
    index: number,
    functionName: 'mint' | 'transfer',
    to: Address,
    amount: bigint,
  ) => {
    const hash = await createWallet(url, index).writeContract({
      address: USDC,
      abi: ABI,
      functionName,
      args: [to, amount],
    })
    await reader.waitForTransactionReceipt({ hash })
    return hash
  }
  return {
    url,
    balanceOf: (address) =>
      reader.readContract({ address: USDC, abi: ABI, functionName: 'balanceOf', args: [address] }),
    mint: async (to, amount) => void (await write(0, 'mint', to, amount)),
    transfer: (from, to, amount) => write(from, 'transfer', to, amount),
    transferAs: async (from, to, amount) => {
      await test.impersonateAccount({ address: from })
      const client = createWalletClient({ account: from, chain: baseSepolia, transport })
      const hash = await client.writeContract({
        address: USDC,
        abi: ABI,
        functionName: 'transfer',
        args: [to, amount],
      })
      await reader.waitForTransactionReceipt({ hash })
    },
    walletOf: (index) => createWallet(url, index),
    put,
    mine: (blocks) => test.mine({ blocks }),
    snapshot: async () => {
      const id = await test.snapshot()
      return { revert: () => test.revert({ id }) }
    },
    stop,
  }
}

const PAYMENT_ABI = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])
/** EIP-3009. */
export const AUTHORIZATION = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const

/** A new buyer's payment, as a facilitator settles it. */
export async function payFromNew(chain: Chain, to: Address, value: bigint): Promise<void> {
  const settler = chain.walletOf(0)
  const buyer = privateKeyToAccount(generatePrivateKey())
  await chain.mint(buyer.address, value)
  const message = {
    ...{ from: buyer.address, to, value, validAfter: 0n, validBefore: 2n ** 40n },
    nonce: generatePrivateKey(),
  }
  const signature = await buyer.signTypedData({
    domain: { name: 'USDC', version: '2', chainId: baseSepolia.id, verifyingContract: USDC },
    types: { TransferWithAuthorization: AUTHORIZATION },
    primaryType: 'TransferWithAuthorization',
    message,
  })
  const { from, validAfter, validBefore, nonce } = message
  const hash = await settler.writeContract({
    address: USDC,
    abi: PAYMENT_ABI,
    functionName: 'transferWithAuthorization',
    args: [from, to, value, validAfter, validBefore, nonce, signature],
  })
  await settler.waitForTransactionReceipt({ hash })
}

/** Eleven buyers who pay a seller $0.27 to $0.47 each: a known seller is measured by that. */
export async function payFromMany(chain: Chain, to: Address): Promise<void> {
  for (let n = 0; n < 11; n++) await payFromNew(chain, to, BigInt(270_000 + n * 20_000))
}

function createWallet(url: string, index: number) {
  const account = accountOf(index)
  return createWalletClient({
    account,
    chain: baseSepolia,
    transport: http(url),
    pollingInterval: 50,
  }).extend(publicActions)
}

/** The compiler takes two seconds, so what it made is kept, each file's beside the digest of what it was made from. */
const COMPILED = new URL('compiled.json', import.meta.url)

/** The code of each contract of a Solidity file beside this one. */
function codesOf(file: string): Record<string, Hex> {
  const kept = JSON.parse(readFileSync(COMPILED, 'utf8'))[file]
  return kept?.from === digestOf(file) ? kept.codes : compile(file).codes
}

const toInput = (file: string) =>
  JSON.stringify({
    language: 'Solidity',
    sources: { [file]: { content: readFileSync(new URL(file, import.meta.url), 'utf8') } },
    settings: {
      outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } },
      evmVersion: 'shanghai',
    },
  })
const digestOf = (file: string) => hash('sha256', toInput(file))

/** What is kept of a file. */
export function compile(file: string): { from: string; codes: Record<string, Hex> } {
  const require = createRequire(import.meta.url)
  const output: string = require('solc').compile(toInput(file))
  const { contracts, errors } = JSON.parse(output)
  const found: Record<string, { evm: { deployedBytecode: { object: string } } }> | undefined =
    contracts?.[file]
  if (found === undefined) throw new Error(JSON.stringify(errors))
  const codes = Object.entries(found).map(
    ([name, { evm }]) => [name, `0x${evm.deployedBytecode.object}`] as const,
  )
  return { from: digestOf(file), codes: Object.fromEntries(codes) }
}

async function waitFor(isReady: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 450; tries += 1) {
    try {
      await isReady()
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  throw new Error('anvil did not answer within 45 s')
}
