import { parseConfig } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { createJsonRpc } from '../../functions/settlements/json-rpc.ts'
import { createSettlements } from '../../functions/settlements/settlements.ts'
import { aListing } from '../call/relay-world.ts'
import { createMeter, openMeterStore, prove } from '../meter/meter-world.ts'

/** A header as x402 writes it. */
export const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64')

/** Relay and meter over a real node and an empty ledger of its own; nothing is served. */
export async function openSchemeWorld(url: string, network: string) {
  const ledger = await openMeterStore()
  const { store } = ledger
  const log = createLog(() => {}, Date.now)
  const rpc = createJsonRpc(url)
  // The chain's clock runs ahead where blocks are mined faster than by the second.
  const now = () => Date.now() + 60_000
  const meter = createMeter(store, rpc, now, { network })
  const config = parseConfig({
    RPC_URLS: JSON.stringify({ [network]: url }),
    UNSAFE_ALLOW_PRIVATE_TARGETS: 'true',
  })
  const settlements = createSettlements({ store, config, clock: { now: Date.now }, log })
  return {
    meter,
    settlements,
    /** Proves payouts, each for the listing of its place. */
    prove: (payouts: readonly string[]) =>
      prove(
        store,
        payouts.map((one) => one.toLowerCase()),
        network,
      ),
    /** One relayed call that paid, as its headers tell it. */
    async relay(payout: string, request: readonly string[], response: readonly string[]) {
      const listing = aListing('https://0.example/', { payout: [`${network}:${payout}`] })
      settlements.note(listing, request, response, Date.now() - 60_000)
      await settlements.verify()
      const [check] = await store.db
        .selectFrom('settlement_check')
        .select(['state', 'reason'])
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(1)
        .execute()
      return check
    },
    /** What is counted, each as payer, amount and who saw it. */
    async counted() {
      const rows = await meter.rows()
      return rows.map(({ payer, amount, seen_by }) => `${payer} ${amount} ${seen_by}`)
    },
    /** How each of them was paid. */
    async schemes() {
      const rows = await store.db.selectFrom('settlement').select('scheme').execute()
      return rows.map(({ scheme }) => scheme)
    },
    /** Wallets the meter saw pay somebody it does not read. */
    async paidOthers() {
      const rows = await store.db
        .selectFrom('meter_payer')
        .select('payer')
        .where('paid_others_block', 'is not', null)
        .execute()
      return rows.map(({ payer }) => payer)
    },
    empty: async () => {
      await store.db.deleteFrom('settlement_check').execute()
      await ledger.empty()
    },
    close: async () => {
      await settlements.close()
      await ledger.close()
    },
  }
}
