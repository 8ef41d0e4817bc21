import { systemClock } from '../../functions/ports/clock.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { createCallObserver, OBSERVER_BOUNDS } from '../../functions/receipts/observe-call.ts'
import { openReceipts } from '../../functions/receipts/receipts.ts'
import type { Store } from '../../functions/store/store.ts'
import type { DeclaredRow } from '../../src/domain/derived/derived-listing.ts'
import type { LiveListing } from '../../src/domain/listing/listing-states.ts'
import { aListing, BASE_URL, startRelay } from '../call/relay-world.ts'

/** A relay that observes paid calls, over a store; everything is on loopback. */
export async function startObservedRelay(
  store: Store,
  rows: readonly DeclaredRow[],
  env: Record<string, string> = {},
  bounds: Partial<typeof OBSERVER_BOUNDS> = {},
) {
  const logged: string[] = []
  const log = createLog((line) => logged.push(line), Date.now)
  const receipts = openReceipts({ store, clock: systemClock, log })
  const declared = new Map(rows.map((row) => [row.digest, row]))
  const observer = createCallObserver({
    config: parseConfig({ BASE_URL, ...env }),
    clock: systemClock,
    log,
    receipts,
    declared: async () => declared,
    bounds: { ...OBSERVER_BOUNDS, ofClient: 10_000, ...bounds },
  })
  const relay = await startRelay({ listings: toListings(rows), observer, env: limitsOf(env) })
  return {
    ...relay,
    receipts,
    logged: () => [...logged, ...relay.logged],
    /** Everything that was called is judged and written. */
    async settle() {
      // Limits are counted in a turn of their own.
      await new Promise((resolve) => setTimeout(resolve, 30))
      await observer.idle()
      await receipts.written()
    },
  }
}

function limitsOf({ RATE_LIMITS }: Record<string, string>): Record<string, string> {
  return RATE_LIMITS === undefined ? {} : { RATE_LIMITS }
}

function toListings(rows: readonly DeclaredRow[]): LiveListing[] {
  const byListing = Map.groupBy(rows, ({ listing_id }) => listing_id)
  return [...byListing].map(([id, own]) =>
    aListing(own[0]?.url.replace(/\{.*/, '') ?? '', {
      id,
      declared: own.map(({ method, url, digest }) => ({ method, url, digest })),
    }),
  )
}

const toBase64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
export const PAYER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
export const PAYEE = '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc'
const TOKEN = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'

/** Payment headers as clients send them, signed by nobody. */
export function paymentHeaders(
  rail: 'x402-v1' | 'x402-v2' | 'mpp',
  payer = PAYER,
  payee = PAYEE,
  nonce = '0x1',
) {
  const authorization = {
    from: payer,
    to: payee,
    value: '1000',
    validAfter: '0',
    validBefore: '9',
    nonce,
  }
  const payload = { signature: '0x', authorization }
  if (rail === 'x402-v1')
    return {
      'X-PAYMENT': toBase64({ x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload }),
    }
  if (rail === 'x402-v2') {
    const accepted = {
      scheme: 'exact',
      network: 'eip155:84532',
      amount: '1000',
      asset: TOKEN,
      payTo: payee,
    }
    return { 'PAYMENT-SIGNATURE': toBase64({ x402Version: 2, accepted, payload }) }
  }
  const request = Buffer.from(
    JSON.stringify({
      amount: '1000',
      currency: TOKEN,
      methodDetails: { chainId: 84532 },
      recipient: payee,
    }),
  ).toString('base64url')
  const challenge = { id: 'c', realm: 'lab', method: 'evm', intent: 'charge', request }
  return {
    Authorization: `Payment ${toBase64({ challenge, payload: { ...authorization, type: 'authorization' } })}`,
  }
}

/** What a seller says that it was paid by. */
export function settledHeaders(rail: 'x402-v1' | 'x402-v2' | 'mpp', transaction: string) {
  if (rail === 'mpp')
    return {
      'Payment-Receipt': toBase64({ method: 'evm', reference: transaction, status: 'success' }),
    }
  const name = rail === 'x402-v1' ? 'X-PAYMENT-RESPONSE' : 'PAYMENT-RESPONSE'
  return { [name]: toBase64({ success: true, transaction, network: 'base-sepolia', payer: PAYER }) }
}

export const aNonce = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
export const aTransaction = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
