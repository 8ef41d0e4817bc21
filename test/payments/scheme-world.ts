import { createJsonRpc } from '../../functions/trust/evm-chain.ts'
import { createMeter, openMeterStore, prove } from '../meter/meter-world.ts'

/** The meter over a real node and an empty ledger of its own; nothing is served. */
export async function openSchemeWorld(url: string, network: string) {
  const ledger = await openMeterStore()
  const { store } = ledger
  const rpc = createJsonRpc(url)
  // The chain's clock runs ahead where blocks are mined faster than by the second.
  const now = () => Date.now() + 60_000
  const meter = createMeter(store, rpc, now, { network })
  return {
    meter,
    /** Proves payouts, each for the listing of its place. */
    prove: (payouts: readonly string[]) =>
      prove(
        store,
        payouts.map((one) => one.toLowerCase()),
        network,
      ),
    /** What is counted, each as payer and amount. */
    async counted() {
      const rows = await meter.rows()
      return rows.map(({ payer, amount }) => `${payer} ${amount}`)
    },
    close: ledger.close,
  }
}
