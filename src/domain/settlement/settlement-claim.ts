import * as v from 'valibot'
import { parseBase64Json } from '../relay/base64-json.ts'
import { type RawHeaders, valuesOf } from '../relay/relayed-headers.ts'
import { toCaip2 } from './usd-assets.ts'

/**
 * What a seller says was settled, beside what the caller really authorised. A word, not evidence:
 * it only says which transaction to look at, and what must be found in it.
 */
export type SettlementClaim =
  | {
      family: 'evm'
      network: string
      /** 0x and 64 hex digits, lower case. */
      transaction: string
      payer: string
      /** Smallest units of the token, decimal text. */
      amount: string
      /** Of the EIP-3009 authorisation. */
      nonce: string
    }
  | {
      family: 'solana'
      network: string
      /** Signature, base58. */
      transaction: string
      /** The partly signed transaction the caller sent, base64: its message must be the settled one. */
      authorised: string
    }

/** Longest header that is decoded; a settlement is a few hundred bytes. */
const MAX_HEADER_LENGTH = 64 * 1024

const hash = v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{64}$/), v.toLowerCase())
const address = v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{40}$/), v.toLowerCase())
const units = v.pipe(v.string(), v.regex(/^[1-9]\d{0,77}$/))
const signature = v.pipe(v.string(), v.regex(/^[1-9A-HJ-NP-Za-km-z]{64,90}$/))

const SettledSchema = v.object({
  success: v.literal(true),
  transaction: v.union([hash, signature]),
  network: v.optional(v.string()),
})

const AuthorizationSchema = v.object({ from: address, value: units, nonce: hash })
const SolanaPayloadSchema = v.object({
  transaction: v.pipe(v.string(), v.maxLength(4096), v.base64()),
})
const PaymentSchema = v.object({
  network: v.optional(v.string()),
  accepted: v.optional(v.object({ network: v.string() })),
  payload: v.union([v.object({ authorization: AuthorizationSchema }), SolanaPayloadSchema]),
})

const ReceiptSchema = v.object({
  method: v.literal('evm'),
  status: v.literal('success'),
  reference: hash,
})
const CredentialSchema = v.object({
  challenge: v.object({ method: v.literal('evm'), request: v.string() }),
  payload: v.object({ type: v.literal('authorization'), from: address, value: units, nonce: hash }),
})
const ChargeSchema = v.object({
  methodDetails: v.object({ chainId: v.pipe(v.number(), v.integer(), v.minValue(1)) }),
})

/**
 * Reads a seller's settlement header against the payment the caller sent. The network is the
 * payment's: a seller naming another chain is not believed.
 *
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
  if ('authorization' in payment.payload) {
    if (!network.startsWith('eip155:') || !transaction.startsWith('0x')) return null
    const { from, value, nonce } = payment.payload.authorization
    return { family: 'evm', network, transaction, payer: from, amount: value, nonce }
  }
  if (!network.startsWith('solana:') || transaction.startsWith('0x')) return null
  return { family: 'solana', network, transaction, authorised: payment.payload.transaction }
}

/** MPP, method evm: the receipt has a hash and nothing else; chain and terms are the challenge's. */
function readMpp(request: RawHeaders, response: RawHeaders): SettlementClaim | null {
  const receipt = decodeAs(ReceiptSchema, firstOf(response, 'payment-receipt'))
  const authorization = valuesOf(request, 'authorization').find((value) =>
    /^payment\s/i.test(value),
  )
  const credential = decodeAs(CredentialSchema, authorization?.replace(/^payment\s+/i, ''))
  if (receipt === null || credential === null) return null
  const charge = decodeAs(ChargeSchema, credential.challenge.request)
  if (charge === null) return null
  const { from, value, nonce } = credential.payload
  const network = `eip155:${charge.methodDetails.chainId}`
  return {
    family: 'evm',
    network,
    transaction: receipt.reference,
    payer: from,
    amount: value,
    nonce,
  }
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
