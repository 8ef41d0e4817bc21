import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { planListing, planPackage } from '../../packages/run-check/fetch-package.ts'
import { toRunEvidence } from '../../packages/run-check/run-check.ts'
import { toResult } from '../../packages/run-check/run-package.ts'
import { findSandbox } from '../../packages/run-check/sandbox.ts'
import { EvidenceSchema, toEvidenceText } from '../../src/domain/trust/evidence.ts'
import { tempFolder } from '../support/temp-folder.ts'

const NPM = { kind: 'mcp_package', registry: 'npm', identifier: '@harbour/mcp', transport: 'stdio' }
const AT = '2026-11-20T12:00:00Z'

const folder = tempFolder('run-check-test')
// The user `nobody` runs the sandbox.
chmodSync(folder, 0o755)

describe('the package of a listing', () => {
  const ENV = [
    { name: 'HARBOUR_URL', required: true, example: 'https://harbour.example' },
    { name: 'HARBOUR_KEY', required: true, secret: true, example: 'sk_live' },
    { name: 'HARBOUR_TZ', example: 'UTC' },
  ]
  const invoke = [
    { ...NPM, transport: 'sse' },
    { ...NPM, env: ENV, args: ['--read-only'] },
  ]

  test('is the one that speaks over stdio, with placeholders for what is required and secret', () => {
    const plan = {
      registry: 'npm',
      identifier: '@harbour/mcp',
      env: { HARBOUR_URL: 'https://harbour.example', HARBOUR_KEY: 'placeholder' },
      args: ['--read-only'],
    }
    expect(planListing({ invoke, version: '2.1.0' })).toEqual({ ...plan, version: '2.1.0' })
    expect(planListing({ name: 'Harbour', invoke })).toEqual({ ...plan, version: null })
  })

  test.each([
    ['no package over stdio', { invoke: invoke.slice(0, 1) }, 'no npm or pypi package'],
    ['an owner who asks to be left alone', { invoke, probe: false }, 'leave this listing alone'],
    ['a word for a manager', { invoke: [{ ...NPM, identifier: '-g' }] }, 'invoke.0.identifier: '],
    ['a moving version', { invoke, version: 'latest' }, 'version: expected one fixed version'],
    ['no front matter', null, 'the front matter: '],
  ])('is not run for %s', (_, frontMatter, words) => {
    expect(planListing(frontMatter)).toContain(words)
  })
})

test.each([
  ['@harbour/mcp', { registry: 'npm', identifier: '@harbour/mcp', version: null }],
  ['@harbour/mcp@2.1.0', { identifier: '@harbour/mcp', version: '2.1.0' }],
  ['npm:harbour@2.1.0', { registry: 'npm', identifier: 'harbour', version: '2.1.0' }],
  ['pypi:harbour-mcp', { registry: 'pypi', identifier: 'harbour-mcp', version: null }],
])('%s is a package', (text, plan) => {
  expect(planPackage(text)).toMatchObject(plan)
})

test.each([
  ['--privileged', 'npm registry'],
  ['pypi:-v', 'pypi registry'],
  ['harbour@--call=x', 'one fixed version'],
  ['harbour@latest', 'one fixed version'],
  ['oci:harbour', 'npm or pypi'],
  ['https://harbour.example/mcp.tgz', 'npm or pypi'],
  ['', 'npm registry'],
])('%j is never handed to a manager', (text, words) => {
  expect(planPackage(text)).toContain(words)
})

describe('evidence takes', () => {
  test('version, outcome, placeholders and tools of a package that ran', () => {
    const server = { name: 'harbour', version: '1.4.2', protocol: '2025-11-25' }
    const tools = [{ name: 'find_ship', description: 'find_ship', input_schema: {} }]
    const ran = { outcome: 'runs_as_declared', server, tools, isCut: true } as const
    const evidence = toRunEvidence(ran, ['SHIP_API_KEY'], AT)
    const placeholders = ['SHIP_API_KEY']
    expect(evidence).toEqual({
      package_run: { at: AT, version: '1.4.2', outcome: 'runs_as_declared', placeholders },
      interface: { at: AT, from: 'mcp', tools, server, truncated: true },
    })
    expect(v.parse(EvidenceSchema, evidence)).toEqual(evidence)
  })

  test('why it failed, in one line without the sandbox in it', () => {
    const failed = toResult('fails', 'cannot find /package/a.js,\nwrote /tmp/log')
    expect(toRunEvidence(failed, [], AT)).toEqual({
      package_run: { at: AT, outcome: 'fails', why: 'cannot find a.js, wrote ~/log' },
    })
  })
})

describe('the command', () => {
  /** The command by itself, as a maintainer calls it. */
  async function run(args: string[], env: Record<string, string> = {}) {
    const child = spawn(process.execPath, ['packages/run-check/run-check.ts', ...args], { env })
    const closed = once(child, 'close')
    const [out, err] = await Promise.all([readText(child.stdout), readText(child.stderr)])
    const [code] = await closed
    return { code, out, err }
  }

  function write(name: string, text: string): string {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }

  test.each([
    [[], 2, 'expected one listing file or package, got 0'],
    [['a', 'b'], 2, 'expected one listing file or package, got 2'],
    [['--packages', 'a'], 2, "Unknown option '--packages'"],
    [['nowhere/mcp/a.md'], 2, 'no such file'],
    [['--', '-g'], 2, 'npm registry'],
  ])('%j exits %i and says why', async (args, code, words) => {
    const { err, ...ended } = await run(args)
    expect(ended).toEqual({ code, out: '' })
    expect(err).toContain(words)
  })

  test('says so where bubblewrap is absent, and touches nothing', async () => {
    for (const path of ['', 'relative::.', '/nowhere'])
      expect((await findSandbox(path)).fault).toContain('bwrap is not on PATH')
    const { code, err } = await run(['harbour'], { PATH: '/nowhere' })
    expect({ code, err: err.trim() }).toEqual({
      code: 1,
      err: 'Packages run in a bubblewrap sandbox. bwrap is not on PATH: install bubblewrap.',
    })
  })

  const LISTING =
    '---\nname: Harbour\ninvoke: [{ kind: mcp_package, transport: stdio, registry: npm, identifier: harbour }]\n---\nShips.\n'

  test('writes the result beside what evidence has', async () => {
    const listing = write('content/listings/mcp/harbour.md', LISTING)
    const before = {
      probes: [{ at: AT, protocol: 'mcp', outcome: 'unprobeable' }],
      signals: { status: 'online' },
    }
    const file = write('content/evidence/mcp/harbour.json', JSON.stringify(before))
    // A sandbox that can be built, and no npm: nothing is fetched, which is nobody's fault.
    chmodSync(write('bin/bwrap', '#!/bin/sh\n'), 0o755)
    const { code, out } = await run([listing, '--json'], { PATH: join(folder, 'bin') })
    const evidence = v.parse(EvidenceSchema, JSON.parse(readFileSync(file, 'utf8')))
    expect(code).toBe(0)
    const why = 'the package could not be fetched: npm is not on PATH'
    expect(evidence).toMatchObject({ ...before, package_run: { outcome: 'unknown', why } })
    expect(JSON.parse(out)).toEqual({ package_run: evidence.package_run })
    expect(readFileSync(file, 'utf8')).toBe(toEvidenceText(evidence))
  })

  test('leaves a file that is not evidence as it is', async () => {
    const listing = write('content/listings/mcp/odd.md', LISTING)
    const file = write('content/evidence/mcp/odd.json', '{"probes": 7}')
    const { code, err } = await run([listing])
    expect(code).toBe(1)
    expect(err).toContain('probes: ')
    expect(readFileSync(file, 'utf8')).toBe('{"probes": 7}')
  })
})
