import { openParts } from '../../operations/open-parts.ts'
import { runCommand } from '../../operations/run-main.ts'
import { reverifyClaims } from '../../sellers/claims/reverify.ts'

/** `npm run reverify`: checks every verified claim now; a running server checks each once a day. */
await runCommand(async (config, log) => {
  await using opened = await openParts(config, log)
  const { checked, failing, lapsed } = await reverifyClaims(opened.parts, 0)
  await opened.parts.ledger.deliveries.deliver()
  return `${checked} claims checked, ${failing} failing, ${lapsed} lapsed`
})
