import { mkdirSync } from 'node:fs'
import {
  createWorkDir,
  publishRelease,
  removeLeftovers,
} from '../../src/compile/release/publish-release.ts'
import { writeSmallRelease } from '../support/small-release.ts'

/** A process that publishes one small release, again and again, until it is killed. */
const [outDir = '', name = ''] = process.argv.slice(2)
mkdirSync(outDir, { recursive: true })
removeLeftovers(outDir)
for (let published = 1; ; published += 1) {
  const work = createWorkDir(outDir, name)
  writeSmallRelease(work, name)
  publishRelease(outDir, name, work)
  process.stdout.write(`${published}\n`)
}
