import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { findValueFault } from '../../src/domain/listing/json-schema.ts'
import { clientHere } from '../support/client-here.ts'
import { IS_LONG } from '../support/long.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { type Double, openDoubles } from './seller-doubles.ts'
import { openDirectory, toDoubles } from './task-world.ts'

const folder = tempFolder('do')
const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
})

/** A wallet as people bring theirs: a module, for both rails. */
const wallet = join(folder, 'wallet.mjs')
writeFileSync(
  wallet,
  `export default {
  async createPaymentPayload({ x402Version, accepts }) {
    return { x402Version, accepted: accepts[0], payload: { signature: '0x' } }
  },
  async createCredential() {
    return 'Payment e30'
  },
}
`,
)

async function open(doubles: readonly Double[]) {
  const site = await openDoubles(doubles)
  closing.push(site.close)
  const base = await openDirectory(doubles, site, closing)
  const pay = ['--wallet', wallet, '--max-usd', '0.5', '--base', base]
  return { site, base, pay }
}

describe('tasks, one command each', () => {
  // What waits for a slow seller waits for the client's own limit.
  const doubles = toDoubles(31).filter(({ fails }) => IS_LONG || fails !== 'slow')
  const tasks = [...new Set(doubles.map(({ task }) => task))].slice(0, IS_LONG ? 12 : 4)
  const opened = open(doubles)
  test.each(tasks)('$id', async (task) => {
    const { pay } = await opened
    const args = ['do', task.id, JSON.stringify(task.example), ...pay]
    const { stdout, stderr } = await clientHere(args)
    expect(findValueFault(task.output, JSON.parse(stdout))).toBeNull()
    expect(stderr).toMatch(/: delivered, \$[\d.]+ paid/)
    expect(stderr).toMatch(/spent \$[\d.]+/)
  })
})

test.each([
  [['do'], 'expected a task and its input as JSON'],
  [['do', 'web_search', '[1]'], 'expected the input as a JSON object'],
  [['do', 'web_search', '{}', '--max-usd', '1'], 'expected --wallet and --max-usd together'],
])('waypost %j is told what is wrong', async (args, message) => {
  const failed = await clientHere(args)
  expect(failed).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
})
