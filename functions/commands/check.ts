import { findFuture, readMoves } from '../../src/content/check.ts'
import { type Fault, faultOf, formatFault } from '../../src/content/faults.ts'
import { readContent, readTombstones } from '../../src/content/read.ts'
import { type Config, parseConfig } from '../ports/config.ts'
import { createStderrLog, readCommandLine, runMain } from '../ports/run-main.ts'
import { hasLedger } from '../store/sqlite.ts'

/**
 * `npm run check`: validates the content and reports every problem in one run. Exit code: 0 valid,
 * 1 errors, 2 usage error.
 */
if (import.meta.main)
  await runMain(async () => {
    if (!(await check(process.argv.slice(2)))) process.exitCode = 1
  })

/**
 * @param args the arguments of `npm run check`
 * @returns whether the content is valid
 */
export async function check(args: readonly string[]): Promise<boolean> {
  readCommandLine('Usage: npm run check', {} as const, 0, args)
  const config = parseConfig(process.env)
  const root = config.CONTENT_DIR
  const start = performance.now()
  const read = readContent(root, { allowPrivate: config.PRIVATE_TARGETS }, config.AS_OF)
  const future = findFuture(read.seen, config.AS_OF)
  const faults = [...read.faults, ...(await findOptedOutMoves(config)), ...future]
  for (const fault of faults) console.log(formatFault(fault, root))
  const errors = faults.filter(({ severity }) => severity === 'error').length
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const { listings, evidence, pages } = read.counts
  console.log(
    `${listings} listings, ${evidence} evidence files and ${pages} comparison pages read in ${seconds} s: ${errors} errors, ${faults.length - errors} warnings`,
  )
  if (read.waiting.length > 0)
    console.log(`${read.waiting.length} source rows are waiting for review: npm run review`)
  return errors === 0
}

/** Faults in moves of listings whose owners opted out; only the ledger knows of the opt-outs. */
async function findOptedOutMoves(config: Config): Promise<Fault[]> {
  const moves = readMoves(readTombstones(config.CONTENT_DIR, new Set()).values)
  if (moves.size === 0 || !hasLedger(config)) return []
  const { openStore } = await import('../store/open-store.ts')
  const { readLedgerFacts } = await import('../service/ledger-facts.ts')
  await using store = await openStore(config, createStderrLog())
  const facts = await readLedgerFacts(store, Date.parse(config.AS_OF))
  return [...moves.keys()]
    .filter((id) => facts.optedOut.has(id) && !facts.moved.has(id))
    .map((id) =>
      faultOf(
        `tombstones/${id.replace('.', '/')}.json`,
        `moved_to: the owner of ${id} asked not to be listed, so ${id} cannot move to ${moves.get(id)}: remove ${moves.get(id)} as well`,
      ),
    )
}
