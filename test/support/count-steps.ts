import { Session } from 'node:inspector/promises'
import { readContent } from '../../src/content/read.ts'

/**
 * `node test/support/count-steps.ts <content folder>…`: checks each folder and prints, a JSON list a
 * line, how often V8 entered a block of code for it and how many faults it found. A process of its
 * own: code that ran before the counters were on is not counted.
 */
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
for (const folder of process.argv.slice(2)) {
  await session.post('Profiler.takePreciseCoverage')
  const { faults } = readContent(folder, { allowPrivate: false })
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const counts = result
    .flatMap(({ functions }) => functions)
    .flatMap(({ ranges }) => ranges.map(({ count }) => count))
  console.log(JSON.stringify([counts.reduce((sum, count) => sum + count, 0), faults.length]))
}
session.disconnect()
