import * as v from 'valibot'
import { parseBase64Json } from '../relay/base64-json.ts'
import { type RawHeaders, valuesOf } from '../relay/relayed-headers.ts'
import { AddressSchema, HashSchema } from './schemes/evm-log.ts'
import { markOfChallenge, markOfRealm } from './schemes/tempo-charge.ts'
import { TEMPO_CHAIN_ID, toCaip2 } from './usd-assets.ts'

/** A seller's word, not evidence: which transaction to look at, and what must be found in it. */
const evmClaim = {
  family: v.literal('evm'),
  network: v.string(),
  /** 0x and 64 hex digits, lower case. */
  transaction: v.string(),
  /** The most the caller agreed to: smallest units of the token, decimal text. */
  amount: v.string(),
}
export const SettlementClaimSchema = v.variant('scheme', [
  v.object({
    ...evmClaim,
    scheme: v.picklist(['eip3009', 'permit2']),
    payer: v.string(),
    nonce: v.string(),
  }),
  /** As the memo writes realm and challenge. */
  v.object({
    ...evmClaim,
    scheme: v.literal('tempo_charge'),
    realm: v.string(),
    challenge: v.string(),
  }),
  v.object({
    family: v.literal('solana'),
    scheme: v.literal('solana_exact'),
    network: v.string(),
    /** Signature, base58. */
    transaction: v.string(),
    /** What the caller sent, partly signed, base64. */
    authorised: v.string(),
  }),
])
export type SettlementClaim = v.InferOutput<typeof SettlementClaimSchema>
export type EvmClaim = Extract<SettlementClaim, { family: 'evm' }>

/** What a claim is about, whatever it says of it: as `ShownPayment.key`. */
export function keyOf(claim: EvmClaim): string {
  if (claim.scheme === 'tempo_charge') return `${claim.realm} ${claim.challenge}`
  // Of Permit2 a number, which may come with zeros before it.
  return `${claim.payer} ${claim.scheme === 'permit2' ? BigInt(claim.nonce) : claim.nonce}`
}

const units = v.pipe(v.string(), v.regex(/^[1-9]\d{0,77}$/))

/** What the caller signed, as x402 and MPP write it. */
const AuthorizationSchema = v.object({ from: AddressSchema, value: units, nonce: HashSchema })

/** The same of Permit2, as x402 writes it. */
const Permit2AuthorizationSchema = v.object({
  from: AddressSchema,
  permitted: v.object({ token: AddressSchema, amount: units }),
  nonce: v.pipe(v.string(), v.regex(/^\d{1,78}$/)),
})

/** Longest header that is decoded; a settlement is a few hundred bytes. */
const MAX_HEADER_LENGTH = 64 * 1024

const signature = v.pipe(v.string(), v.regex(/^[1-9A-HJ-NP-Za-km-z]{64,90}$/))

const SettledSchema = v.object({
  success: v.literal(true),
  transaction: v.union([HashSchema, signature]),
  network: v.optional(v.string()),
})

const PaymentSchema = v.object({
  network: v.optional(v.string()),
  accepted: v.optional(v.object({ network: v.string() })),
  payload: v.union([
    v.object({ authorization: AuthorizationSchema }),
    v.object({ permit2Authorization: Permit2AuthorizationSchema }),
    v.object({ transaction: v.pipe(v.string(), v.maxLength(4096), v.base64()) }),
  ]),
})

const ReceiptSchema = v.object({
  method: v.picklist(['evm', 'tempo']),
  status: v.literal('success'),
  reference: HashSchema,
})
const CredentialSchema = v.union([
  v.object({
    challenge: v.object({ method: v.literal('evm'), request: v.string() }),
    payload: v.object({ type: v.literal('authorization'), ...AuthorizationSchema.entries }),
  }),
  v.object({
    challenge: v.object({
      method: v.literal('tempo'),
      intent: v.literal('charge'),
      id: v.pipe(v.string(), v.minLength(1), v.maxLength(1_000)),
      realm: v.pipe(v.string(), v.minLength(1), v.maxLength(1_000)),
      request: v.string(),
    }),
    payload: v.object({ type: v.picklist(['transaction', 'hash']) }),
  }),
])
const chainId = v.pipe(v.number(), v.integer(), v.minValue(1))
const ChargeSchema = v.object({
  amount: v.optional(units),
  methodDetails: v.optional(v.object({ chainId: v.optional(chainId) })),
})

/**
 * The network is the payment's: a seller naming another chain is not believed.
 * @returns null where nothing verifiable is claimed: no success, no payment, cards, unknown chains.
 */
export function readSettlementClaim(
  request: RawHeaders,
  response: RawHeaders,
): SettlementClaim | null {
  return readX402(request, response) ?? readMpp(request, response)
}

function readX402(request: RawHeaders, response: RawHeaders): SettlementClaim | null {
  const settled = decodeAs(
    SettledSchema,
    firstOf(response, 'payment-response') ?? firstOf(response, 'x-payment-response'),
  )
  const payment = decodeAs(
    PaymentSchema,
    firstOf(request, 'payment-signature') ?? firstOf(request, 'x-payment'),
  )
  if (settled === null || payment === null) return null
  const network = toCaip2(payment.accepted?.network ?? payment.network ?? '')
  if (network === null) return null
  if (settled.network !== undefined && toCaip2(settled.network) !== network) return null
  const { transaction } = settled
  const { payload } = payment
  if ('transaction' in payload) {
    const isSolana = network.startsWith('solana:') && !transaction.startsWith('0x')
    const authorised = payload.transaction
    return isSolana
      ? { family: 'solana', scheme: 'solana_exact', network, transaction, authorised }
      : null
  }
  if (!network.startsWith('eip155:') || !transaction.startsWith('0x')) return null
  const where = { family: 'evm', network, transaction } as const
  if ('authorization' in payload) return { ...where, ...toEip3009(payload.authorization) }
  const { from, permitted, nonce } = payload.permit2Authorization
  return { ...where, scheme: 'permit2', payer: from, amount: permitted.amount, nonce }
}

/** MPP: the receipt has a hash and nothing else; chain and terms are the challenge's. */
function readMpp(request: RawHeaders, response: RawHeaders): SettlementClaim | null {
  const receipt = decodeAs(ReceiptSchema, firstOf(response, 'payment-receipt'))
  const authorization = valuesOf(request, 'authorization').find((value) =>
    /^payment\s/i.test(value),
  )
  const credential = decodeAs(CredentialSchema, authorization?.replace(/^payment\s+/i, ''))
  if (receipt === null || receipt.method !== credential?.challenge.method) return null
  const charge = decodeAs(ChargeSchema, credential.challenge.request)
  const chain =
    charge?.methodDetails?.chainId ?? (receipt.method === 'tempo' ? TEMPO_CHAIN_ID : undefined)
  if (charge === null || chain === undefined) return null
  const network = `eip155:${chain}`
  const where = { family: 'evm', network, transaction: receipt.reference } as const
  if ('from' in credential.payload) return { ...where, ...toEip3009(credential.payload) }
  const { challenge } = credential
  if (!('realm' in challenge) || charge.amount === undefined) return null
  return {
    ...where,
    scheme: 'tempo_charge',
    amount: charge.amount,
    realm: markOfRealm(challenge.realm),
    challenge: markOfChallenge(challenge.id),
  }
}

function toEip3009({ from, value, nonce }: v.InferOutput<typeof AuthorizationSchema>) {
  return { scheme: 'eip3009', payer: from, amount: value, nonce } as const
}

function firstOf(raw: RawHeaders, name: string): string | undefined {
  return valuesOf(raw, name)[0]
}

/** Base64 or base64url JSON of a shape; null for anything else. */
function decodeAs<Schema extends v.GenericSchema>(
  schema: Schema,
  text: string | undefined,
): v.InferOutput<Schema> | null {
  const parsed = v.safeParse(schema, parseBase64Json(text, MAX_HEADER_LENGTH))
  return parsed.success ? parsed.output : null
}
