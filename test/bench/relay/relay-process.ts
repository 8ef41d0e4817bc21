import { aListing, startRelay } from '../../call/relay-world.ts'

/** The service's own server with nothing behind it but the relay: `node relay-process.ts <seller>`. */
const [sellerUrl = ''] = process.argv.slice(2)
const { port, logged } = await startRelay({
  listings: [aListing(sellerUrl)],
  // Each stream of the memory test is another client's, as named by its proxy.
  env: { TRUST_PROXY: '1', RATE_LIMITS: '{"call":"999999999/60"}' },
})
// One line a call is written, as in service; where it goes is the machine's business.
setInterval(() => logged.splice(0), 100)
process.once('SIGINT', () => process.exit(0))
console.log(port)
