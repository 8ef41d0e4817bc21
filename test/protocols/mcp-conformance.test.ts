import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { IS_LONG } from '../support/long.ts'
import { serveFixture } from '../support/running-service.ts'
import { tempFolder } from '../support/temp-folder.ts'

/**
 * The protocol's own conformance checks that a server of tools alone can be asked; the others call
 * fixture tools that no real server has.
 */
const SCENARIOS = [
  'http-header-validation',
  // By official clients and by hand these are tried in `test/protocols/mcp.test.ts`, too.
  ...(IS_LONG ? ['tools-list', 'dns-rebinding-protection', 'server-initialize', 'ping'] : []),
]

const running = serveFixture()

const program = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
)

describe('the protocol’s own conformance checks', () => {
  test.each(SCENARIOS)('%s: no check fails', async (scenario) => {
    const place = tempFolder('conformance')
    const { stdout } = await promisify(execFile)(process.execPath, [
      program,
      'server',
      '--url',
      `${running.url}/mcp`,
      '--scenario',
      scenario,
      '--output-dir',
      place,
    ]).catch((failed: { stdout: string; stderr: string }) => failed)
    const [folder = ''] = readdirSync(place)
    const checks: { id: string; status: string; errorMessage?: string }[] = JSON.parse(
      readFileSync(join(place, folder, 'checks.json'), 'utf8'),
    )
    expect(checks.length, stdout).toBeGreaterThan(0)
    expect(checks.filter(({ status }) => status === 'FAILURE')).toEqual([])
  })
})
