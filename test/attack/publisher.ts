import { mkdirSync } from 'node:fs'
import { removeLeftovers } from '../../src/store/releases.ts'
import { publishSmallRelease } from '../support/small-release.ts'

/** A process that publishes two small releases in turns, again and again, until it is killed. */
const [outDir = '', ...names] = process.argv.slice(2)
mkdirSync(outDir, { recursive: true })
removeLeftovers(outDir)
for (let published = 1; ; published += 1) {
  publishSmallRelease(outDir, names[published % names.length] ?? '')
  process.stdout.write(`${published}\n`)
}
