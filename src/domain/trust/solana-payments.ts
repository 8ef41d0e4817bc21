import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import * as v from 'valibot'
import { fromBase64 } from '../wire/json.ts'
import type { Settlement, Transfer } from './payments.ts'
import type { UsdAsset } from './usd-assets.ts'

/** Base58 as Solana writes keys and signatures. */
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** 64 bytes are at most 88 characters. */
const MAX_LENGTH = 90

/** @returns null unless it is base58 of exactly this many bytes */
export function decodeBase58(text: string, size: number): Uint8Array | null {
  if (text.length > MAX_LENGTH) return null
  let value = 0n
  for (const character of text) {
    const digit = ALPHABET.indexOf(character)
    if (digit < 0) return null
    value = value * 58n + BigInt(digit)
  }
  const bytes = new Uint8Array(size)
  let zeros = size
  for (; value > 0n && zeros > 0; value >>= 8n) bytes[--zeros] = Number(value & 255n)
  return value === 0n && text.length - text.replace(/^1+/, '').length === zeros ? bytes : null
}

export function encodeBase58(bytes: Uint8Array): string {
  let value = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  let text = ''
  for (; value > 0n; value /= 58n) text = (ALPHABET[Number(value % 58n)] ?? '') + text
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(zeros < 0 ? bytes.length : zeros) + text
}

/**
 * A Solana transaction's payment to a payout. In the x402 scheme `exact` the buyer signs one
 * checked transfer and somebody else pays the fee and signs last: only a transaction of exactly
 * that form counts. It is Solana's counterpart of an authorisation: the buyer consented to it and
 * did not send it.
 */
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111'
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
/** Instructions wallets may add: a memo, and guards against being drained. */
const HARMLESS = new Set([
  COMPUTE_BUDGET,
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95',
])

const TokenBalanceSchema = v.object({
  accountIndex: v.optional(v.pipe(v.number(), v.integer())),
  mint: v.string(),
  owner: v.string(),
  uiTokenAmount: v.object({ amount: v.pipe(v.string(), v.regex(/^\d{1,20}$/)) }),
})
const InstructionSchema = v.object({
  programId: v.string(),
  parsed: v.optional(v.unknown()),
  accounts: v.optional(v.array(v.string())),
})
const TransferSchema = v.object({
  type: v.literal('transferChecked'),
  info: v.object({
    source: v.string(),
    destination: v.string(),
    mint: v.string(),
    authority: v.string(),
    tokenAmount: v.object({ amount: v.pipe(v.string(), v.regex(/^\d{1,20}$/)) }),
  }),
})

const ParsedTransactionSchema = v.object({
  slot: v.pipe(v.number(), v.integer(), v.minValue(0)),
  blockTime: v.pipe(v.number(), v.integer(), v.minValue(0)),
  meta: v.object({
    err: v.unknown(),
    preTokenBalances: v.array(TokenBalanceSchema),
    postTokenBalances: v.array(TokenBalanceSchema),
  }),
  transaction: v.object({
    signatures: v.array(v.string()),
    message: v.object({
      accountKeys: v.array(v.object({ pubkey: v.string(), signer: v.boolean() })),
      instructions: v.array(InstructionSchema),
    }),
  }),
})
export type ParsedTransaction = v.InferOutput<typeof ParsedTransactionSchema>

interface SolanaSeller {
  network: string
  wallets: readonly string[]
  coin: UsdAsset
}

/** @returns the payment in a transaction to one of the wallets; null for anything else */
export function readSolanaPayment(
  found: ParsedTransaction,
  { network, wallets, coin: { address: mint, decimals } }: SolanaSeller,
): Omit<Settlement, 'listing_id'> | null {
  const { accountKeys, instructions } = found.transaction.message
  const [sponsor] = accountKeys
  const at = instructions.findIndex(({ programId }) => programId === TOKEN)
  const rest = instructions.filter((_, index) => index !== at)
  const transfer = v.safeParse(TransferSchema, instructions[at]?.parsed)
  if (found.meta.err !== null || sponsor === undefined || !transfer.success) return null
  const { source, destination, authority, tokenAmount, mint: paidIn } = transfer.output.info
  const { preTokenBalances, postTokenBalances } = found.meta
  const payee = wallets.find((wallet) =>
    isHeldBy(found, postTokenBalances, { account: destination, owner: wallet, mint }),
  )
  const isExact =
    paidIn === mint &&
    BigInt(tokenAmount.amount) > 0n &&
    rest.every(({ programId }) => HARMLESS.has(programId)) &&
    // The fee payer has no part in the payment, and the buyer signed it.
    sponsor.signer &&
    ![source, destination, authority].includes(sponsor.pubkey) &&
    !rest.some(({ accounts }) => accounts?.includes(sponsor.pubkey)) &&
    accountKeys.some(({ pubkey, signer }) => pubkey === authority && signer) &&
    isHeldBy(found, preTokenBalances, { account: source, owner: authority, mint })
  if (!isExact || payee === undefined) return null
  return {
    network,
    transaction: found.transaction.signatures[0] ?? '',
    // A payment has exactly one transfer.
    log: 0,
    payer: authority,
    payee,
    amount: tokenAmount.amount,
    usd: Number(tokenAmount.amount) / 10 ** decimals,
    at: found.blockTime * 1000,
    block: null,
    scheme: 'solana_exact',
  }
}

/** What a transaction took out of a payout's account, by wallets that had more afterwards. */
export function readSolanaReturns(
  found: ParsedTransaction,
  { network, wallet, coin }: Pick<SolanaSeller, 'network' | 'coin'> & { wallet: string },
): Transfer[] {
  const changes = changesOf(found, coin.address)
  if (found.meta.err !== null || (changes.get(wallet) ?? 0n) >= 0n) return []
  const gained = [...changes]
    .filter(([, change]) => change > 0n)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return gained.map(([to, change], index) => ({
    network,
    transaction: found.transaction.signatures[0] ?? '',
    log: index,
    from: wallet,
    to,
    amount: change.toString(),
    at: found.blockTime * 1000,
    block: null,
    from_contract: null,
  }))
}

/** Whether an account was its owner's own: a delegate's signature is not the owner's. */
function isHeldBy(
  { transaction }: ParsedTransaction,
  balances: ParsedTransaction['meta']['preTokenBalances'],
  held: { account: string; owner: string; mint: string },
): boolean {
  const index = transaction.message.accountKeys.findIndex(({ pubkey }) => pubkey === held.account)
  return balances.some(
    ({ accountIndex, owner, mint }) =>
      accountIndex === index && owner === held.owner && mint === held.mint,
  )
}

/** Change of each owner's balance of one mint. */
function changesOf({ meta }: ParsedTransaction, mint: string): Map<string, bigint> {
  const changes = new Map<string, bigint>()
  const add = (owner: string, change: bigint) =>
    changes.set(owner, (changes.get(owner) ?? 0n) + change)
  for (const entry of meta.preTokenBalances)
    if (entry.mint === mint) add(entry.owner, -BigInt(entry.uiTokenAmount.amount))
  for (const entry of meta.postTokenBalances)
    if (entry.mint === mint) add(entry.owner, BigInt(entry.uiTokenAmount.amount))
  return changes
}

const ACCOUNT_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
const KEY_BYTES = 32

/**
 * The account that holds a wallet's coins of one mint on Solana: the address derived from both that
 * no key signs for (a program derived address, with the highest bump whose hash is not a point).
 *
 * @returns null where wallet or mint is not a key
 */
export function tokenAccountOf(wallet: string, mint: string): string | null {
  const seeds = [wallet, TOKEN, mint].map((key) => decodeBase58(key, KEY_BYTES))
  const program = decodeBase58(ACCOUNT_PROGRAM, KEY_BYTES)
  const [owner, token, coin] = seeds
  if (!owner || !token || !coin || !program) return null
  const end = concatBytes(program, utf8ToBytes('ProgramDerivedAddress'))
  for (let bump = 255; bump >= 0; bump -= 1) {
    const hash = sha256(concatBytes(owner, token, coin, Uint8Array.of(bump), end))
    if (!isPoint(hash)) return encodeBase58(hash)
  }
  return null
}

function isPoint(bytes: Uint8Array): boolean {
  try {
    // As Solana's own library decompresses: a coordinate past the field's prime is taken modulo it.
    ed25519.Point.fromBytes(bytes, true)
    return true
  } catch {
    return false
  }
}

const SIGNATURE_BYTES = 64
/** A message begins with its version, if any, and the counts of signers and read-only accounts. */
const HEADER_BYTES = 3
const VERSIONED = 0x80
const TRANSFER_CHECKED = 12
/** A packet on Solana (bytes): no transaction is longer. */
const MAX_BYTES = 1232

interface SolanaTransfer {
  /** Wallet that signs for the coins, and the account that gets them: base58. */
  authority: string
  destination: string
}

/**
 * The one checked transfer of a transaction as a client signs it for x402's `exact`, before anybody sends it.
 *
 * @param encoded base64 of the transaction, of either version
 * @returns null unless it has exactly one, whose accounts are all in the transaction and not in a table on the chain
 */
export function readSolanaTransfer(encoded: unknown): SolanaTransfer | null {
  if (typeof encoded !== 'string' || encoded.length > MAX_BYTES * 2) return null
  try {
    const { keys, instructions } = parseTransaction(fromBase64(encoded))
    const transfers = instructions.filter(
      ({ program, data }) => isToken(keys[program]) && data[0] === TRANSFER_CHECKED,
    )
    const [source, _mint, destination, authority] = transfers[0]?.accounts ?? []
    const isOne = transfers.length === 1 && source !== undefined
    const [to, by] = [keys[destination ?? keys.length], keys[authority ?? keys.length]]
    if (!isOne || to === undefined || by === undefined) return null
    return { authority: encodeBase58(by), destination: encodeBase58(to) }
  } catch {
    return null
  }
}

/** @throws where it ends too early */
function parseTransaction(bytes: Uint8Array) {
  let at = 0
  const take = (size: number) => {
    if (at + size > bytes.length) throw new Error('a transaction that ends in the middle')
    at += size
    return bytes.subarray(at - size, at)
  }
  const byte = () => take(1)[0] ?? 0
  /** Seven bits per byte, the lowest first. */
  const length = () => {
    const first = byte()
    return first < 128 ? first : (first & 127) + 128 * byte()
  }
  const list = <Item>(read: () => Item) => Array.from({ length: length() }, read)
  take(length() * SIGNATURE_BYTES)
  take((bytes[at] ?? 0) >= VERSIONED ? HEADER_BYTES + 1 : HEADER_BYTES)
  const keys = list(() => take(KEY_BYTES))
  take(KEY_BYTES)
  const instructions = list(() => ({
    program: byte(),
    accounts: take(length()),
    data: take(length()),
  }))
  return { keys, instructions }
}

const TOKEN_KEY = decodeBase58(TOKEN, KEY_BYTES)

function isToken(key: Uint8Array | undefined): boolean {
  return key?.every((value, at) => value === TOKEN_KEY?.[at]) ?? false
}

/** A node of Solana, by JSON-RPC. */
interface Node {
  call<Schema extends v.GenericSchema>(
    method: string,
    params: unknown[],
    schema: Schema,
  ): Promise<v.InferOutput<Schema>>
}

/** A CAIP-2 reference of Solana is the first 32 characters of the genesis hash. */
const REFERENCE_LENGTH = 32

/** The cluster of a node, CAIP-2. */
export async function readCluster(node: Node): Promise<string> {
  const genesis = await node.call('getGenesisHash', [], v.string())
  return `solana:${genesis.slice(0, REFERENCE_LENGTH)}`
}

/** A final transaction with parsed instructions; null where the node has none, or another. */
export async function readTransaction(node: Node, signature: string) {
  const options = {
    encoding: 'jsonParsed',
    commitment: 'finalized',
    maxSupportedTransactionVersion: 0,
  }
  const found = await node.call(
    'getTransaction',
    [signature, options],
    v.nullable(ParsedTransactionSchema),
  )
  return found?.transaction.signatures[0] === signature ? found : null
}

/** Signatures a node lists at once. */
const PAGE = 1_000

const SignaturesSchema = v.array(
  v.object({
    signature: v.pipe(v.string(), v.regex(/^[1-9A-HJ-NP-Za-km-z]{64,90}$/)),
    err: v.unknown(),
    blockTime: v.nullish(v.number()),
  }),
)
export type Signature = v.InferOutput<typeof SignaturesSchema>[number]

/**
 * Transactions of an account, newest first, failures included.
 *
 * @param since milliseconds; transactions without a time are listed as well
 * @param until the signature where an earlier list ended
 * @returns null where the node returns the same page again
 */
export async function listSignatures(
  node: Node,
  account: string,
  { since, until }: { since: number; until?: string },
): Promise<Signature[] | null> {
  const listed: Signature[] = []
  for (let before: { before?: string } = {}; ; ) {
    const options = { limit: PAGE, commitment: 'finalized', ...(until && { until }), ...before }
    const page = await node.call('getSignaturesForAddress', [account, options], SignaturesSchema)
    const fresh = page.filter(
      ({ blockTime }) => typeof blockTime !== 'number' || blockTime * 1000 >= since,
    )
    for (const signature of fresh) listed.push(signature)
    const last = page.at(-1)
    if (page.length < PAGE || fresh.length < page.length || last === undefined) return listed
    if (before.before === last.signature) return null
    before = { before: last.signature }
  }
}
