import type { RequestedOffer, RequestedTerms } from '../../domain/kit/requested-terms.ts'
import { toUsd } from '../../domain/listing/pricing.ts'
import { toPaymentHeader } from '../../domain/relay/payments.ts'
import { usdAssetOf } from '../../domain/trust/usd-assets.ts'
import { isJsonObject } from '../../domain/wire/json.ts'

/**
 * Security model: the wallet is the person's own browser extension (EIP-1193). Only it has keys; it shows what it will
 * sign, and may refuse. This page requests an address, a chain and one signature for an EIP-3009 transfer of exactly
 * the amount that the seller demanded, to the payee that the page shows, and only below the ceiling that the person
 * set. The coin always comes from our own table of coins, never from the offer. An offer that is incomplete, or not
 * understood, never reaches the wallet.
 *
 * Known limitations: EVM chains and the scheme `exact` with EIP-3009; a contract wallet may sign what a seller cannot
 * check.
 */
export interface BrowserWallet {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>
}

/** An authorisation is valid from this long before now, because clocks differ (seconds). */
const CLOCK_SKEW = 600
const DEFAULT_TIMEOUT = 60
const MAX_TIMEOUT = 900

const TYPES = {
  EIP712Domain: [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
  ],
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** Why a browser's wallet cannot pay an offer; null if it can. */
export function findPayFault({ offer, chain, usd }: RequestedOffer, maxUsd: number): string | null {
  const { assetTransferMethod: method = 'eip3009' } = isJsonObject(offer.extra) ? offer.extra : {}
  if (offer.scheme !== 'exact') return `Scheme ${String(offer.scheme)} needs a client of its own.`
  if (method !== 'eip3009')
    return `The seller wants payment by ${String(method)}, which this page does not sign.`
  if (chain === null || !chain.startsWith('eip155:'))
    return 'A browser wallet pays on EVM networks only.'
  if (typeof offer.payTo !== 'string' || !/^0x[0-9a-f]{40}$/i.test(offer.payTo))
    return 'The seller names a payee that is not an address, so nothing can be signed.'
  if (usd === null || amountOf(offer) === null)
    return 'We do not know what this amount of this coin is worth, so we do not request a signature.'
  if (coinOn(chain) === null) return 'This network’s coin does not accept this kind of signature.'
  return usd <= maxUsd
    ? null
    : `The seller asks for ${toUsd(usd)}, more than your ceiling of ${toUsd(maxUsd)}.`
}

/** The amount in smallest units; null if the seller names no amount, or two different ones. */
function amountOf({ amount, maxAmountRequired }: Record<string, unknown>): string | null {
  const requested = [amount, maxAmountRequired].filter((each) => each !== undefined)
  const [first] = requested
  const isOne = requested.every((each) => each === first)
  return isOne && typeof first === 'string' && /^[1-9]\d{0,29}$/.test(first) ? first : null
}

/** The EIP-712 domain for a network's dollar coin, from our own table. */
function coinOn(chain: string) {
  const coin = usdAssetOf(chain, { allowTestCoins: true })
  return coin?.domain == null ? null : { ...coin.domain, verifyingContract: coin.address }
}

/**
 * Has the wallet sign once.
 * @param offer an offer in which `findPayFault` finds no fault
 * @returns the header that pays the offer
 * @throws the wallet's error, for instance if the person refuses
 */
export async function signOffer(
  wallet: BrowserWallet,
  { offer, chain }: RequestedOffer,
  { terms, version }: RequestedTerms,
): Promise<{ name: string; value: string }> {
  const coin = coinOn(chain ?? '')
  const value = amountOf(offer)
  if (coin === null || value === null) throw new Error('This offer cannot be signed here.')
  const [from] = await readAccounts(wallet)
  if (from === undefined) throw new Error('The wallet shared no account.')
  const chainId = Number(chain?.slice('eip155:'.length))
  await switchChain(wallet, chainId)
  const now = Math.floor(Date.now() / 1000)
  const authorization = {
    from,
    to: String(offer.payTo),
    value,
    validAfter: String(now - CLOCK_SKEW),
    validBefore: String(now + timeoutOf(offer)),
    nonce: toHex(crypto.getRandomValues(new Uint8Array(32))),
  }
  const typed = {
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    domain: { ...coin, chainId },
    message: authorization,
  }
  const signature = await wallet.request({
    method: 'eth_signTypedData_v4',
    params: [from, JSON.stringify(typed)],
  })
  const payload = { signature: String(signature), authorization }
  const header = toPaymentHeader(
    version === 1
      ? { x402Version: 1, scheme: 'exact', network: offer.network, payload }
      : { ...repeated(terms), x402Version: 2, accepted: offer, payload },
  )
  if (header === null) throw new Error('The payment header could not be made.')
  return header
}

/** Version 2 repeats the seller's description of the resource and its extensions. */
function repeated({ resource, extensions }: Record<string, unknown>) {
  return {
    ...(resource !== undefined && { resource }),
    ...(extensions !== undefined && { extensions }),
  }
}

export async function readAccounts(wallet: BrowserWallet): Promise<string[]> {
  const accounts = await wallet.request({ method: 'eth_requestAccounts' })
  return (Array.isArray(accounts) ? accounts : []).map(String)
}

/** The EIP-1193 code for a refusal by the wallet's owner. */
const DECLINED = 4001

/** The message in a wallet's error, which is a plain object. */
export function toWalletFault(error: unknown): string {
  const { code, message } = Object(error)
  if (code === DECLINED) return 'You declined in the wallet.'
  return typeof message === 'string' && message !== '' ? message : 'The call failed.'
}

async function switchChain(wallet: BrowserWallet, chainId: number): Promise<void> {
  const wanted = `0x${chainId.toString(16)}`
  const current = await wallet.request({ method: 'eth_chainId' })
  if (String(current).toLowerCase() === wanted) return
  await wallet.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: wanted }] })
}

function timeoutOf({ maxTimeoutSeconds }: Record<string, unknown>): number {
  const seconds = Number(maxTimeoutSeconds)
  return seconds > 0 ? Math.min(seconds, MAX_TIMEOUT) : DEFAULT_TIMEOUT
}

export function toHex(bytes: Uint8Array): string {
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
