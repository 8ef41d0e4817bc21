import { formatFault } from '../../src/compile/content/fault.ts'
import { readContent } from '../../src/compile/content/read-content.ts'
import { runMain } from '../operations/run-main.ts'
import { parseConfig } from '../ports/config.ts'

/** `npm run check`: validates the content and reports every problem in one run. */
await runMain(() => {
  const start = performance.now()
  const { CONTENT_DIR, UNSAFE_ALLOW_PRIVATE_TARGETS } = parseConfig(process.env)
  const { faults, counts } = readContent(CONTENT_DIR, {
    allowPrivate: UNSAFE_ALLOW_PRIVATE_TARGETS,
  })
  for (const fault of faults) console.log(formatFault(fault, CONTENT_DIR))
  const errors = faults.filter(({ severity }) => severity === 'error').length
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(
    `${counts.listings} listings, ${counts.evidence} evidence files and ${counts.pages} comparison pages read in ${seconds} s: ${errors} errors, ${faults.length - errors} warnings`,
  )
  if (errors > 0) process.exitCode = 1
})
