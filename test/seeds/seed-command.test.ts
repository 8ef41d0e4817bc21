import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readSeedOptions } from '../../seeds/commands/seed.ts'
import { IS_LONG, longTest } from '../support/long.ts'
import { runHere } from '../support/run-here.ts'
import { contentForEachTest, FIXTURES } from './content-fixture.ts'
import { server } from './registry-rows.ts'

const SEED = new URL('../../seeds/commands/seed.ts', import.meta.url).pathname
const HOSTILE = join(FIXTURES, 'hostile.ndjson')

const content = contentForEachTest()

describe('npm run seed', () => {
  test('--help says how, and exits with 0', async () => {
    const { status, stdout } = await readOptions('--help')
    expect(status).toBe(0)
    for (const option of [
      'mcp-registry',
      '--from',
      '--limit',
      '--dry-run',
      '--report',
      '--content',
    ])
      expect(stdout).toContain(option)
  })

  test.each([
    [[], 'expected one importer (mcp-registry, '],
    [['mcp-registry', '--since', 'yesterday'], '--since: expected a day or a UTC time'],
    [['other'], 'expected one importer'],
    [['mcp-registry', '--limit', '0'], '--limit: expected a whole number above 0, got "0"'],
    [['mcp-registry', '--limit', '1e3x'], '--limit: expected'],
    [['mcp-registry', '--since', '2026-13-40'], '--since: expected'],
    [['mcp-registry', '--form', 'x'], "Unknown option '--form'"],
  ])('%j is a mistake in the command: 2, and what would be right', async (args, message) => {
    const { status, stderr } = await readOptions(...args)
    expect(stderr).toContain(message)
    expect(stderr).toContain('Usage: npm run seed')
    expect(status).toBe(2)
  })

  longTest('a missing file is named, and exits with 1', () => {
    const { status, stderr } = run(
      'mcp-registry',
      '--from',
      'missing.ndjson',
      '--content',
      content.contentDir,
    )
    expect(stderr).toContain('--from missing.ndjson: expected a file, a folder or an http(s) URL')
    expect(status).toBe(1)
  })

  test('a hostile file: every row is refused or harmless, printed without its tricks, all in the report', () => {
    const report = join(content.root, 'refused.ndjson')
    const { status, stdout } = run(
      'mcp-registry',
      '--from',
      HOSTILE,
      '--content',
      content.contentDir,
      '--report',
      report,
    )
    expect(status).toBe(0)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u200b]/)
    const refused = readLines(report)
    expect(refused).toEqual(
      [
        ['unreadable_row', 'line 3'],
        ['invalid_row', '../../../etc/cron.d/evil'],
        ['invalid_row', '\u001b]0;owned\u0007/x'],
        ['invalid_row', '(no name)'],
        ['invalid_row', '(no name)'],
        ['instruction_like_text', 'io.github.inject/orders'],
        ['misleading_text', 'io.github.forge/pay'],
        ['private_url', 'io.github.inner/metadata'],
        ['invalid_identifier', 'io.github.shell/install'],
      ].map(([reason, name]) => expect.objectContaining({ reason, name })),
    )
    const believed = Object.entries(content.rows('mcp-registry')).filter(([, row]) => !row.held)
    expect(believed.map(([key]) => key)).toEqual(['io.github.html/page', 'io.github.yaml/break'])
    expect(content.fields('listings/mcp/io.github.html.page.md').get('summary')).toBe(
      'Bold claims ]]> </ quoted "text" and a link',
    )
    const broken = content.listing('listings/mcp/io.github.yaml.break.md')
    expect(parse(broken.split('---\n')[1] ?? '').name).toBe(
      'x" first_party: true --- !!js/function *a &b #c',
    )
  })
})

describe('npm run seed -- all', () => {
  /** Stands in for the network: the registry answers a page, every other source an error page. */
  const REGISTRY = {
    servers: [
      {
        server: server('io.github.tides/tides', {
          repository: { url: 'https://github.com/tides/tides' },
          packages: [
            { registryType: 'pypi', identifier: 'tides-pkg', transport: { type: 'stdio' } },
          ],
        }),
      },
    ],
    metadata: {},
  }
  /** Takes the place of undici, by which every request of ours leaves. */
  const UNDICI = `import { Readable } from 'node:stream'
    export class Agent { async destroy() {} }
    export const request = async (url) => {
      const isRegistry = new URL(url).host === 'registry.modelcontextprotocol.io'
      const text = isRegistry
        ? ${JSON.stringify(JSON.stringify(REGISTRY))}
        : '<!doctype html><title>Down for maintenance</title>'
      return { statusCode: 200, headers: {}, body: Readable.from([Buffer.from(text)]) }
    }`
  const toModule = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`
  const NETWORK = `import { registerHooks } from 'node:module'
    registerHooks({
      resolve: (name, context, next) =>
        name === 'undici'
          ? { url: ${JSON.stringify(toModule(UNDICI))}, shortCircuit: true }
          : next(name, context),
    })`
  const seedAll = () =>
    spawnSync(
      process.execPath,
      ['--import', toModule(NETWORK), SEED, 'all', '--json', '--content', content.contentDir],
      { encoding: 'utf8' },
    )
  const rowsOf = (stdout: string) =>
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))

  test('takes what answers, names what does not, and exits with the highest code', () => {
    const { status, stdout, stderr } = seedAll()
    expect(status).toBe(1)
    expect(rowsOf(stdout).map(({ source, rows }) => [source, rows.added])).toEqual([
      ['mcp-registry', 1],
      ['manifests', 0],
      ['skills', 0],
      ['discovery', 0],
    ])
    for (const source of ['x402-bazaar', 'mpp', 'a2a', 'x402-list'])
      expect(stderr).toMatch(new RegExp(`^${source}: .*; nothing was written$`, 'm'))
    expect(content.listing('listings/mcp/io.github.tides.tides.md')).toContain('tides-pkg')
    if (!IS_LONG) return
    const before = content.snapshot()
    expect(rowsOf(seedAll().stdout)[0].rows).toMatchObject({ added: 0, unchanged: 1 })
    expect(content.snapshot()).toEqual(before)
  })
})

const readOptions = (...args: string[]) => runHere(() => void readSeedOptions(args, {}, new Date()))

function run(...args: string[]) {
  return spawnSync(process.execPath, [SEED, ...args], { encoding: 'utf8' })
}

function readLines(file: string): unknown[] {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
