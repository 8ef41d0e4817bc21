import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Kysely } from 'kysely'
import * as v from 'valibot'
import { normalizePayout } from '../../src/domain/listing/networks.ts'
import { decodeBase58 } from '../../src/domain/trust/solana-payments.ts'
import {
  PayoutBodySchema,
  PayoutCheckBodySchema,
  type PayoutChecked,
  type PayoutState,
} from '../../src/domain/views/seller-views.ts'
import type { Parts } from '../features/feature.ts'
import type { ClaimTable, Tables } from '../store/store.ts'
import { createJsonRpc, type JsonRpc, RpcError } from '../trust/evm-chain.ts'
import { createOwnerRoute } from './claims.ts'
import { notifySeller } from './letters.ts'
import { showObserved } from './proofs.ts'
import { createSecret } from './sign-in.ts'

type PayoutProofTable = Tables['payout_proof']

/** Endpoints with which a seller proves that a payout is theirs. */
export function createPayoutRoutes(parts: Parts) {
  return {
    payout_start: createPayoutStart(parts),
    payout_check: createPayoutCheck(parts),
    payout_withdraw: createPayoutWithdrawal(parts),
  }
}

/** `POST /api/v1/sellers/payout {listing_id, payout}`: a text to sign with the payout's wallet. */
function createPayoutStart(parts: Parts) {
  const { ledger, clock, config } = parts
  return createOwnerRoute(parts, 'payout', PayoutBodySchema, async ({ payout }, claim) => {
    const requested = { baseUrl: config.BASE_URL, payout }
    return { challenge: await openChallenge(ledger.store.db, claim, requested, clock.now()) }
  })
}

/** `POST /api/v1/sellers/payout/check {listing_id, payout, signature}`. A signature that does not match is a 200 that says why. */
function createPayoutCheck(parts: Parts) {
  const { ledger, clock } = parts
  const { db } = ledger.store
  return createOwnerRoute(parts, 'payout', PayoutCheckBodySchema, async (body, claim) => {
    const { payout, signature } = body
    const key = { claim_id: claim.id, payout: normalizePayout(payout) }
    const requested = await db
      .selectFrom('payout_challenge')
      .select('challenge')
      .where((eb) => eb.and(key))
      .where('expires_at', '>', clock.now())
      .executeTakeFirst()
    const seen =
      requested === undefined
        ? NO_CHALLENGE
        : await look(parts, requested.challenge, payout, signature)
    const { isContract = false, ...sight } = seen
    const signed =
      requested !== undefined && seen.verified
        ? { payout, ...requested, contractSignature: isContract ? signature : null }
        : null
    const proven = signed && (await recordPayoutProof(db, claim, signed, clock.now()))
    const known = db
      .selectFrom('payout_proof')
      .selectAll()
      .where((eb) => eb.and(key))
    const state = toPayoutState(payout, proven ?? (await known.executeTakeFirst()))
    // The signature is right, but another check used the challenge up meanwhile.
    const isLate = signed !== null && proven === null
    return { ...(isLate ? NO_CHALLENGE : sight), payout: state } satisfies PayoutChecked
  })
}

/** `DELETE /api/v1/sellers/payout {listing_id, payout}`: ends the proof; the next build shows it. */
function createPayoutWithdrawal(parts: Parts) {
  const { db } = parts.ledger.store
  return createOwnerRoute(parts, 'payout', PayoutBodySchema, async ({ payout }, { id }) => {
    const key = { claim_id: id, payout: normalizePayout(payout) }
    // The claim stays. A challenge that is waiting for its signature ends too.
    await db.transaction().execute(async (trx) => {
      for (const table of ['payout_challenge', 'payout_proof'] as const)
        await trx
          .deleteFrom(table)
          .where((eb) => eb.and(key))
          .execute()
    })
    return toPayoutState(payout, undefined)
  })
}

interface Sight extends Pick<PayoutChecked, 'verified' | 'expected' | 'observed'> {
  isContract?: boolean
}

const NO_CHALLENGE: Sight = {
  verified: false,
  expected: 'a challenge for this payout, started within the last 15 minutes and not used yet',
  observed: null,
}

async function look(
  { config }: Pick<Parts, 'config'>,
  challenge: string,
  payout: string,
  signature: string,
): Promise<Sight> {
  const [family = '', chain = '', address = ''] = payout.split(':')
  const expected = `a signature of the challenge by ${address}`
  if (family === 'solana') {
    const verified = isSignedBySolana(challenge, address, signature)
    return { verified, expected, observed: verified ? address : showObserved(signature) }
  }
  const signer = recoverSigner(challenge, signature)
  if (signer === address.toLowerCase()) return { verified: true, expected, observed: signer }
  const url = config.RPC_URLS[`${family}:${chain}`]
  if (url !== undefined && /^0x(?:[0-9a-fA-F]{2})+$/.test(signature)) {
    const hash = hashPersonalText(challenge)
    const verdict = await isSignedByContract(createJsonRpc(url), address, hash, signature)
    if (verdict === 'yes')
      return { verified: true, expected, observed: `${address}, a contract`, isContract: true }
    if (verdict === null)
      return { verified: false, expected, observed: 'the chain’s node gave no answer; try again' }
  }
  const observed = signer === null ? showObserved(signature) : `a signature by ${signer}`
  return { verified: false, expected, observed }
}

function toPayoutState(payout: string, proof: PayoutProofTable | undefined): PayoutState {
  return proof === undefined
    ? { payout, state: 'unproven' }
    : { payout, state: 'proven', proven_at: new Date(proof.proven_at).toISOString() }
}

const CHALLENGE_MINUTES = 15

/**
 * The text that proves a payout once its wallet has signed it. A wallet shows the text before signing, so the
 * text says who requests the signature, why, and that it is no payment.
 * @param now milliseconds since the epoch; `payout` is CAIP-10
 */
export async function openChallenge(
  db: Kysely<Tables>,
  { id, listing_id }: ClaimTable,
  { baseUrl, payout }: { baseUrl: string; payout: string },
  now: number,
): Promise<string> {
  const expires_at = now + CHALLENGE_MINUTES * 60_000
  const challenge = [
    `${baseUrl} asks you to prove a payout address.`,
    '',
    'By signing you say that payments to this address are for this listing.',
    'Signing costs nothing, moves nothing and permits nothing.',
    '',
    `Listing: ${listing_id}`,
    `Payout: ${payout}`,
    `Nonce: ${createSecret()}`,
    `Expires: ${new Date(expires_at).toISOString()}`,
  ].join('\n')
  const row = { challenge, expires_at }
  await db
    .insertInto('payout_challenge')
    .values({ claim_id: id, payout: normalizePayout(payout), ...row })
    .onConflict((conflict) => conflict.columns(['claim_id', 'payout']).doUpdateSet(row))
    .execute()
  return challenge
}

/**
 * Records the proof. One DELETE uses the challenge up, so that a signature works once.
 * @returns null if the challenge was used meanwhile
 */
export async function recordPayoutProof(
  db: Kysely<Tables>,
  claim: ClaimTable,
  signed: { payout: string; challenge: string; contractSignature: string | null },
  now: number,
): Promise<PayoutProofTable | null> {
  const { payout, challenge, contractSignature } = signed
  return db.transaction().execute(async (trx) => {
    const used = await trx
      .deleteFrom('payout_challenge')
      .where((eb) => eb.and({ claim_id: claim.id, challenge }))
      .returning('claim_id')
      .execute()
    if (used.length === 0) return null
    const proof = {
      claim_id: claim.id,
      payout: normalizePayout(payout),
      proven_at: now,
      ...(contractSignature === null
        ? { checked_at: null, challenge: null }
        : { checked_at: now, challenge }),
      signature: contractSignature,
    }
    await trx
      .insertInto('payout_proof')
      .values(proof)
      .onConflict((conflict) => conflict.columns(['claim_id', 'payout']).doUpdateSet(proof))
      .execute()
    return proof
  })
}

/**
 * How wallets sign a text: EVM wallets sign it as EIP-191 "personal" text, Solana wallets sign its bytes. The
 * functions below never throw on a stranger's input.
 */

/** EIP-191 version 0x45: because of this prefix, a text's signature can never be a transaction's. */
export function hashPersonalText(text: string): Uint8Array {
  const bytes = utf8ToBytes(text)
  return keccak_256(
    concatBytes(utf8ToBytes(`\u0019Ethereum Signed Message:\n${bytes.length}`), bytes),
  )
}

const SIGNATURE = /^0x[0-9a-fA-F]{130}$/

/**
 * The address that signed a text, lower case; null for anything that is not a signature.
 * @param signature r, s and v (27, 28, 0 or 1): 65 bytes of hex
 */
export function recoverSigner(text: string, signature: string): string | null {
  if (!SIGNATURE.test(signature)) return null
  const bytes = hexToBytes(signature.slice(2))
  const v = bytes[64] ?? 0
  const recovery = v >= 27 ? v - 27 : v
  if (recovery > 1) return null
  try {
    // EIP-2: of the two valid forms of a signature, wallets write only the one with the lower s.
    if (secp256k1.Signature.fromBytes(bytes.subarray(0, 64)).hasHighS()) return null
    const ordered = concatBytes(Uint8Array.of(recovery), bytes.subarray(0, 64))
    const key = secp256k1.recoverPublicKey(ordered, hashPersonalText(text), { prehash: false })
    const uncompressed = secp256k1.Point.fromBytes(key).toBytes(false)
    // The address is the last 20 bytes of the hash of the key without its first byte.
    return `0x${bytesToHex(keccak_256(uncompressed.subarray(1)).subarray(-20))}`
  } catch {
    // r or s is out of range, or the signature gives no point on the curve.
    return null
  }
}

/** @param address base58 public key; @param signature base58, 64 bytes */
export function isSignedBySolana(text: string, address: string, signature: string): boolean {
  const key = decodeBase58(address, 32)
  const signed = decodeBase58(signature, 64)
  if (key === null || signed === null) return false
  try {
    // Strict: a key of small order would "sign" every text.
    const isSigned = ed25519.verify(signed, utf8ToBytes(text), key, { zip215: false })
    return isSigned && !ed25519.Point.fromBytes(key).isSmallOrder()
  } catch {
    return false
  }
}

/** `bytes4(keccak256("isValidSignature(bytes32,bytes)"))`: the selector, and the answer "yes". */
const SELECTOR = '1626ba7e'
const YES = new RegExp(`^0x${SELECTOR}0{56}$`)
const WORD = 64

/** EIP-1271: asks a contract whether a signature is its owner's; null if the node cannot tell. */
async function isSignedByContract(
  rpc: JsonRpc,
  wallet: string,
  hash: Uint8Array,
  signature: string,
): Promise<'yes' | 'no' | 'no_contract' | null> {
  const bytes = signature.slice(2)
  const data = [
    `0x${SELECTOR}`,
    bytesToHex(hash),
    (64).toString(16).padStart(WORD, '0'),
    (bytes.length / 2).toString(16).padStart(WORD, '0'),
    bytes.padEnd(Math.ceil(bytes.length / WORD) * WORD, '0'),
  ].join('')
  try {
    const code = await rpc.call('eth_getCode', [wallet, 'latest'], v.string())
    // An address without code "answers" every call with nothing.
    if (!/^0x[0-9a-f]{2}/i.test(code)) return 'no_contract'
    const stated = await rpc.call('eth_call', [{ to: wallet, data }, 'latest'], v.string())
    return YES.test(stated) ? 'yes' : 'no'
  } catch (error) {
    if (error instanceof RpcError) return error.kind === 'reverted' ? 'no' : null
    throw error
  }
}

const RECHECK_AFTER_MS = 7 * 86_400_000
const MOST = 500

/**
 * Asks contract wallets again, a week after the last time, whether they still accept the signature
 * that proved a payout, because their owners change. Only a contract's own refusal ends a proof. If
 * a node cannot tell, or finds no contract, the question is repeated next time.
 */
export async function recheckContracts({
  ledger,
  clock,
  config,
  log,
}: Pick<Parts, 'ledger' | 'clock' | 'config' | 'log'>) {
  const { db } = ledger.store
  const nodes = new Map(
    Object.entries(config.RPC_URLS).map(([network, url]) => [network, createJsonRpc(url)]),
  )
  const tally = { checked: 0, ended: 0 }
  const due = await db
    .selectFrom('payout_proof')
    .innerJoin('claim', 'claim.id', 'payout_proof.claim_id')
    .selectAll('payout_proof')
    .select(['claim.seller_id', 'claim.listing_id', 'claim.host', 'claim.method'])
    .where('claim.state', '=', 'verified')
    .where('payout_proof.signature', 'is not', null)
    .where('payout_proof.checked_at', '<', clock.now() - RECHECK_AFTER_MS)
    .orderBy('payout_proof.checked_at')
    .limit(MOST)
    .execute()
  for (const { claim_id, payout, proven_at, challenge, signature, ...claim } of due) {
    const [family = '', chain = '', address = ''] = payout.split(':')
    const node = nodes.get(`${family}:${chain}`)
    if (node === undefined || challenge === null || signature === null) continue
    const hash = hashPersonalText(challenge)
    const verdict = await isSignedByContract(node, address, hash, signature)
    if (verdict !== 'yes' && verdict !== 'no') continue
    tally.checked += 1
    const seen = { checked_at: clock.now() }
    // If a payout was proved again meanwhile, the new proof stays.
    const row = { claim_id, payout, proven_at }
    await db.transaction().execute(async (trx) => {
      if (verdict === 'yes')
        return void (await trx
          .updateTable('payout_proof')
          .set(seen)
          .where((eb) => eb.and(row))
          .execute())
      const gone = await trx
        .deleteFrom('payout_proof')
        .where((eb) => eb.and(row))
        .returning('payout')
        .execute()
      if (gone.length === 0) return
      tally.ended += 1
      const reason = `the contract at ${payout} no longer accepts the signature that proved it, so the proof has ended.`
      await notifySeller(trx, ledger.mails, claim, 'payout_ended', reason)
    })
  }
  if (tally.checked > 0) log.info('payouts.rechecked', tally)
  return tally
}
