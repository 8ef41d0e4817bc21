import { resolve } from 'node:path'
import { createResolver } from '../../net/resolver.ts'
import { createLedger } from '../../operations/open-ledger.ts'
import { runCommand } from '../../operations/run-main.ts'
import { systemClock as clock } from '../../ports/clock.ts'
import { createReleaseHolder } from '../../release/release-holder.ts'
import { reverifyClaims } from '../../sellers/claim-checks.ts'
import { openStore } from '../../store/open-store.ts'

/**
 * `npm run reverify`: checks every verified claim now; a running server checks each once a day. It
 * needs no lock next to a server: both databases allow a second writer.
 */
await runCommand(async (config, log) => {
  const { OUT_DIR, BASE_URL: baseUrl } = config
  const releases = await createReleaseHolder({ outDir: resolve(OUT_DIR), baseUrl, log })
  const release = releases.current
  const siteName = () => release().site.name
  const ledger = createLedger(await openStore(config, log), { config, log, clock, siteName })
  try {
    const resolver = createResolver(config.DNS_SERVERS)
    const tally = await reverifyClaims({ config, clock, ledger, resolver, release }, 0)
    await ledger.mails.send()
    return `${tally.checked} claims checked, ${tally.failing} failing, ${tally.lapsed} lapsed`
  } finally {
    releases.close()
    await ledger.close()
  }
})
