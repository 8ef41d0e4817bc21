import * as v from 'valibot'
import { toPayout } from '../listing/caip-account.ts'
import { toMppTerm } from '../probe/read/mpp-terms.ts'
import { toCaip2, usdAssetOf } from '../settlement/usd-assets.ts'
import { isJsonObject } from '../wire/parse-json.ts'
import { type Offered, readOffer } from './offer.ts'

/** A payment of a scheme that cannot be read here: it may pay anybody anything. */
const UNREADABLE: readonly Offered[] = [{ payee: null, usd: null }]

/** EIP-3009, of x402 and MPP. */
const AuthorizationSchema = v.object({ to: v.string(), value: v.string() })
/** With Permit2 the witness names the payee; for `upto`, `amount` is the most that may be taken. */
const PermitSchema = v.object({
  permitted: v.object({ token: v.string(), amount: v.string() }),
  witness: v.object({ to: v.string() }),
})
/** Batch settlement: a voucher lets the seller claim, a deposit comes before the first one. */
const VoucherSchema = v.object({
  channelConfig: v.object({ receiver: v.string(), token: v.string() }),
  voucher: v.object({ maxClaimableAmount: v.string() }),
  deposit: v.optional(v.object({ amount: v.string() })),
})
const PayloadSchema = v.union([
  v.object({ authorization: AuthorizationSchema }),
  v.object({ permit2Authorization: PermitSchema }),
  VoucherSchema,
])
const CredentialSchema = v.object({
  challenge: v.record(v.string(), v.unknown()),
  payload: v.optional(v.unknown()),
})

/**
 * A payment's statements on payee and amount: the offer its client chose, or the challenge it
 * answers, and what was signed. Only the second moves money, and a seller may craft terms in which
 * the two differ; so a payload that cannot be read here is worth nothing, whatever else it says.
 */
export function readSignedPayment(payment: unknown): readonly Offered[] {
  if (!isJsonObject(payment)) return UNREADABLE
  if (v.is(CredentialSchema, payment)) return readCredential(payment)
  const { accepted } = payment
  const signed = readSigned(payment)
  if (signed === null) return UNREADABLE
  const chosen = accepted === undefined ? [] : [accepted]
  return [...chosen, ...signed].map((each) => readOffer(each))
}

/** Only the signed payee: a paid call needs nothing else. CAIP-10; null where it cannot be read. */
export function readSignedPayee(payment: unknown): string | null {
  if (!isJsonObject(payment)) return null
  if (v.is(CredentialSchema, payment)) return readCredential(payment).at(-1)?.payee ?? null
  const signed = readSigned(payment)?.at(-1)
  return signed === undefined ? null : toPayout(toCaip2(String(signed.network)), signed.payTo)
}

/** What an x402 payload signs; null where it cannot be read here. */
function readSigned({ accepted, payload, ...version1 }: Record<string, unknown>) {
  if (!v.is(PayloadSchema, payload)) return null
  const { network = version1.network, asset } = isJsonObject(accepted) ? accepted : {}
  return toSigned(payload, asset ?? dollarOf(network)).map((each) => ({ network, ...each }))
}

function toSigned(payload: v.InferOutput<typeof PayloadSchema>, asset: unknown) {
  if ('authorization' in payload) {
    const { to: payTo, value: amount } = payload.authorization
    return [{ asset, payTo, amount }]
  }
  if ('permit2Authorization' in payload) {
    const { permitted, witness } = payload.permit2Authorization
    return [{ asset: permitted.token, payTo: witness.to, amount: permitted.amount }]
  }
  const { channelConfig, voucher, deposit } = payload
  const { receiver: payTo, token } = channelConfig
  const amounts = [voucher.maxClaimableAmount, ...(deposit === undefined ? [] : [deposit.amount])]
  return amounts.map((amount) => ({ asset: token, payTo, amount }))
}

/** Version 1 does not name the coin: it can only be the network's dollar. */
function dollarOf(network: unknown): string | undefined {
  return usdAssetOf(toCaip2(String(network)) ?? '', { allowTestCoins: true })?.address
}

/** MPP: the challenge as it was posed, and the authorisation that answers it. */
function readCredential({ challenge, payload }: v.InferOutput<typeof CredentialSchema>) {
  const words = Object.entries(challenge).map(([name, value]) => [name, String(value)])
  const term = toMppTerm(new Map(words.map(([name = '', value = '']) => [name, value])))
  if (term === null || !v.is(AuthorizationSchema, payload)) return UNREADABLE
  const { to: payTo, value: amount } = payload
  const { network } = term
  const signed = readOffer({ network, asset: dollarOf(network), payTo, amount })
  return [{ payee: term.payout, usd: term.usd }, signed]
}
