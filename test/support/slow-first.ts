import { existsSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The files that take longest, so that none of them is begun when all others are done. Without results
 * of an earlier run the largest file would be first, and some of these are small.
 */
const SLOW = [
  'test/browser/pages.test.ts',
  'test/build/releases.test.ts',
  'test/payments/payments.test.ts',
  'test/site/dev.test.ts',
  'test/tasks/arguments.test.ts',
  'test/client/command-line.test.ts',
  'test/run-check/sandbox.test.ts',
  'test/browser/search.test.ts',
  'test/browser/search-elsewhere.test.ts',
  'test/browser/sellers.test.ts',
  'test/own/own-directory.test.ts',
  'test/own/switched-off.test.ts',
]

const gone = SLOW.filter((file) => !existsSync(file))
if (gone.length > 0) throw new Error(`expected files that exist: ${gone.join(', ')}`)

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = await super.sort(files)
    const placeOf = ({ moduleId }: TestSpecification) => {
      const at = SLOW.findIndex((file) => moduleId.endsWith(`/${file}`))
      return at === -1 ? SLOW.length : at
    }
    return others.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}
