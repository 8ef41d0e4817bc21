import { mkdirSync } from 'node:fs'
import { removeLeftovers } from '../../src/build/folder.ts'
import { publishSmallRelease } from '../support/small-release.ts'

/** A process that publishes two small releases in turns, again and again, until it is killed. */
const [outDir = '', ...names] = process.argv.slice(2)
mkdirSync(outDir, { recursive: true })
removeLeftovers(outDir)
for (let published = 1; ; published += 1) {
  await publishSmallRelease(outDir, `${names[published % names.length]}-${published}`)
  process.stdout.write(`${published}\n`)
}
