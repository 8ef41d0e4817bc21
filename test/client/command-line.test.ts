import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientHere } from '../support/client-here.ts'
import { listen } from '../support/listen.ts'
import { IS_LONG, longTest } from '../support/long.ts'
import { packClient } from '../support/packed-client.ts'
import { serveFixture } from '../support/running-service.ts'
import { type Site, startSite } from '../support/site.ts'
import { tempFolder } from '../support/temp-folder.ts'

const run = promisify(execFile)
const folder = tempFolder('client')
const running = serveFixture({
  RATE_LIMITS: '{"check":"1/600"}',
  UNSAFE_ALLOW_PRIVATE_TARGETS: 'true',
})
let seller: Site

const needs = (properties: Record<string, object>) => ({
  ...{ type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
})
const text = { type: 'string', minLength: 1 }
const listOf = (items: object) => ({ type: 'array', minItems: 1, items })
const uri = { type: 'string', pattern: '^https://' }
const file = { type: 'string', pattern: '^(?![a-z]+:|/)[^ ]+$' }
/** What `sarif-schema-2.1.0.json` of OASIS demands of the parts that are written. */
const SARIF = needs({
  $schema: uri,
  version: { const: '2.1.0' },
  runs: listOf(
    needs({
      tool: needs({
        driver: needs({
          name: text,
          rules: listOf(needs({ id: text, shortDescription: needs({ text }) })),
        }),
      }),
      invocations: listOf(needs({ executionSuccessful: { type: 'boolean' } })),
      results: listOf(
        needs({
          ...{ ruleId: text, ruleIndex: { const: 0 }, level: { const: 'error' } },
          message: needs({ text }),
          locations: listOf(
            needs({ physicalLocation: needs({ artifactLocation: needs({ uri: file }) }) }),
          ),
        }),
      ),
    }),
  ),
})

/** The package as it would be published, installed into an empty folder. */
beforeAll(async () => {
  seller = await startSite()
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', await packClient()], {
    cwd: folder,
  })
})
afterAll(() => seller.close())

/** A directory whose every answer is what a check found. */
async function serveReport(...problems: { what: string; change: string }[]) {
  const report = {
    ...{ target: 'https://shop.example/a,b', took_for: 'mcp', saw: 'MCP', asked: [], right: [] },
    ...{ problems, verdict: 'problems' },
  }
  const server = createServer((_, res) =>
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(report)),
  )
  return { base: `http://127.0.0.1:${await listen(server)}`, close: () => server.close() }
}

const waypost = (...args: string[]) => clientHere(args, { env: { WAYPOST_URL: running.url } })

describe('the command', () => {
  test('runs where nothing but the package is', async () => {
    const { stdout } = await run('node_modules/.bin/waypost', ['--help'], { cwd: folder })
    expect(stdout).toContain('Usage: waypost <command>')
    expect(
      readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.')),
    ).toEqual(['@waypost'])
  })

  test('is explained where somebody asks for help, before a command or after it', async () => {
    const all = await waypost('help')
    expect(all).toMatchObject({ code: 0, stderr: '' })
    expect(await waypost('call', '--help')).toEqual(all)
    expect(await waypost('-h')).toEqual(all)
  })

  test('search finds what the service finds, for people and for programs', async () => {
    const text = await waypost('search', 'weather', '--limit', '2')
    const api = await (await fetch(`${running.url}/api/v1/search?q=weather&limit=2`)).json()
    const [first, second] = api.results
    expect(text.code).toBe(0)
    expect(text.stdout).toMatch(new RegExp(`^${first.id} .*\\n.*\\n${second.id} `))
    expect(text.stdout).toContain(`2 of ${api.total}`)
    const json = await waypost('search', 'weather', '--json', '--kind', 'http_api', '--paid-only')
    const query = { q: 'weather', kind: 'http_api', paid_only: true }
    expect(JSON.parse(json.stdout).query).toMatchObject(query)
    const all = await waypost('search', '--all', '--json')
    const stats = await (await fetch(`${running.url}/api/v1/stats`)).json()
    const { total, first_party } = stats.listings
    expect(all.stdout.trim().split('\n').length).toBe(total - first_party)
  })

  test('show prints a listing, how it is called, and code to pipe', async () => {
    const show = (...args: string[]) => waypost('show', 'x402.weather', ...args)
    const [listing, kit, code, none] = await Promise.all([
      show(),
      show('--kit'),
      show('--snippet', 'curl'),
      show('--snippet', 'cobol'),
    ])
    expect(listing.stdout).toMatch(/trust: 38 of 100/)
    expect(kit.stdout).toMatch(/pays by x402/)
    expect(code.stdout).toMatch(/^curl .*\/api\/v1\/call\/x402\.weather/m)
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('curl, typescript')])
  })

  test('what sellers wrote moves no cursor', async () => {
    const { stdout } = await waypost('show', 'api.hostile-text')
    expect(stdout).toContain('<script>')
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })

  test('call asks the relay, and says what it would do', async () => {
    const info = await waypost('call', 'x402.weather', '--info')
    expect(JSON.parse(info.stdout)).toMatchObject({ relayable: true })
    const refused = await waypost('call', 'mcp.tenki')
    expect(refused.code).toBe(1)
    expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'not-relayable' })
    writeFileSync(join(folder, 'no-wallet.mjs'), 'export default {}')
    const paid = ['--wallet', join(folder, 'no-wallet.mjs'), '--max-usd', '1']
    const wallet = await waypost('call', 'x402.weather', ...paid)
    expect(wallet).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('createPaymentPayload'),
    })
  })

  test('lint tells what a service answers, and when to come back', async () => {
    const url = 'https://nobody.waypost-check.example/mcp'
    const requested = await waypost('lint', url, '--as', 'mcp')
    expect([requested.code, requested.stdout]).toEqual([3, expect.stringContaining('Not reached.')])
    const limited = await waypost('lint', url)
    expect([limited.code, limited.stderr]).toEqual([1, expect.stringMatching(/again in \d+ s/)])
  })

  test('lint speaks to workflows and code scanners, and no seller’s text becomes a command', async () => {
    const what = 'tool "a", 5% ##[add-mask]x\n::add-mask::x: \u001b[2J'
    const problem = { what, change: 'Say what it does' }
    const directory = await serveReport(problem, problem)
    const lint = (format: string) =>
      waypost('lint', 'https://shop.example/a,b', '--format', format, '--base', directory.base)
    const [log, sarif] = await Promise.all([lint('github'), lint('sarif')])
    directory.close()
    const line =
      '::error title=mcp%3A https%3A//shop.example/a%2Cb::tool "a", 5%25 ##[add-mask]x%0A::add-mask::x:  [2J. Say what it does'
    expect([log.code, log.stdout]).toEqual([1, `${line}\n${line}\n`])
    expect(sarif.code).toBe(1)
    const written = JSON.parse(sarif.stdout)
    expect(new Ajv().validate(SARIF, written)).toBe(true)
    expect(written.runs[0].results.length).toBe(2)
  })

  test('add puts a service before the maintainers', async () => {
    const about = `${seller.url}/tides`
    const added = await waypost('add', about, '--note', 'Tides.', '--json')
    expect(added.code).toBe(0)
    expect(JSON.parse(added.stdout)).toMatchObject({
      status: 'waiting',
      id: expect.stringMatching(/^r/),
    })
    const again = await waypost('add', about)
    expect([again.code, again.stdout + again.stderr]).toEqual([0, expect.stringMatching(/Waiting/)])
  })

  const WRONG: [string[], number, string][] = [
    [[], 2, 'Usage'],
    [['serach', 'x'], 2, 'unknown command "serach"'],
    [['search', '--kidn', 'kit'], 2, '--kidn'],
    [['search', '--kind', 'robot'], 1, 'mcp_server'],
    [['add', 'nowhere'], 1, 'about'],
    [['show'], 2, 'expected one id, got 0'],
    [['show', 'mcp.nope'], 1, 'listing'],
    [['call', 'x402.weather', '--max-usd', 'much'], 2, 'expected a number'],
    [['call', 'x402.weather', '-H', 'nonsense'], 2, 'Name: value'],
    [['lint', 'https://a.example', '--as', 'smtp'], 2, 'x402, mpp'],
    [['lint', 'https://a.example', '--format', 'xml'], 2, 'github, sarif'],
    [['search', 'x', '--all', '--limit', '2'], 2, 'only one of --all and --limit'],
    [['find', 'x', '--sort', 'price'], 2, 'neither --sort nor --all'],
    [['find', 'x', '--all'], 2, 'neither --sort nor --all'],
    [['pin'], 2, 'expected ids to pin'],
    [['pin', 'mcp.a', 'mcp.b', '--only', 'GET x'], 2, 'expected one id with --only'],
    [['check', '--lock', folder], 2, 'EISDIR'],
    [['call', 'x402.weather', '--lock', 'none'], 2, 'none: expected a lock file in which x402'],
    [['search', 'x', '--base', 'nowhere'], 2, 'http(s) address'],
  ]
  test('what is wrong is named, with what would be right', async () => {
    const answers = await Promise.all(WRONG.map(([args]) => waypost(...args)))
    expect(answers.map(({ code, stdout, stderr }) => [code, stdout + stderr])).toEqual(
      WRONG.map(([, code, words]) => [code, expect.stringContaining(words)]),
    )
  })

  test('a directory that is not there is said to be out of reach', async () => {
    const { code, stderr } = await waypost('show', 'x402.weather', '--base', 'http://127.0.0.1:9')
    expect([code, stderr]).toEqual([3, expect.stringContaining('could not be reached')])
  })
})

/** The machine's own Node, which is older than ours on many: ours runs the same in the tests above. */
const OTHER = ['/usr/local/bin/node', '/usr/bin/node'].find((path) => existsSync(path))
if (OTHER === undefined) console.log('skipped: this machine has no Node beside the one of npm ci')
const NODES = IS_LONG || OTHER === undefined ? [process.execPath, OTHER ?? []].flat() : [OTHER]

describe('the package', () => {
  test.each(NODES)('pins, checks and lints under %s', async (node) => {
    const directory = await serveReport({ what: 'x', change: 'y' })
    const bin = join(folder, 'node_modules/@waypost/client/dist/waypost-cli.js')
    const call = async (...args: string[]) => {
      const env = { ...process.env, WAYPOST_URL: running.url }
      return run(node, [bin, ...args], { env, cwd: folder })
    }
    const lock = `pins${node.replaceAll('/', '-')}.lock`
    const { stdout } = await call('pin', 'x402.weather', '--lock', lock)
    expect(stdout).toContain('x402.weather: pinned')
    expect((await call('check', '--lock', lock)).stdout).toContain('as pinned')
    const lint = ['lint', 'https://a.example', '--format', 'sarif', '--base', directory.base]
    const sarif = await call(...lint).catch((error) => error)
    directory.close()
    expect(new Ajv().validate(SARIF, JSON.parse(sarif.stdout))).toBe(true)
  })

  longTest.each(NODES)('computes a score from the published rows under %s', async (node) => {
    const bin = join(folder, 'node_modules/@waypost/client/dist/waypost-cli.js')
    const env = { ...process.env, WAYPOST_URL: running.url }
    const args = [bin, 'recompute', 'x402.closed-shop', '--json']
    const { stdout } = await run(node, args, { env, cwd: folder })
    expect(JSON.parse(stdout)).toMatchObject({ id: 'x402.closed-shop', same: true })
  })

  test('has declarations that name no file outside it', () => {
    const types = join(folder, 'node_modules/@waypost/client/dist/types')
    const names = readdirSync(types)
    const imported = names.flatMap((name) => {
      const text = readFileSync(join(types, name), 'utf8')
      return [...text.matchAll(/(?:from |import\()['"]([^'"]+)['"]/g)].map(([, path]) => path)
    })
    const own = names.map((name) => `./${name.replace(/\.d\.ts$/, '.js')}`)
    expect(own).toContain('./do-task.js')
    expect(imported.filter((path) => !own.includes(path ?? ''))).toEqual([])
  })

  longTest('has types that compile in a project with nothing else', async () => {
    // Each type that the client's own sources name is declared in the package, too.
    const source = readFileSync('packages/client/src/answers.ts', 'utf8')
    const names = [...source.matchAll(/^export type (\w+)/gm)].map(([, name]) => name)
    expect(names).toContain('SearchParameters')
    writeFileSync(
      join(folder, 'use.ts'),
      `import { createWaypost } from '@waypost/client'
import { allowedBy, type Difference, type Lock } from '@waypost/client/lock'
import type { ${names.join(', ')} } from '@waypost/client/types/answers'
export type All = [${names.join(', ')}]
import { WaypostError } from '@waypost/client/waypost-error'
import { createBudget, doTask, type DoneTask } from '@waypost/client/do-task'
export const done: (budget: ReturnType<typeof createBudget>) => Promise<DoneTask> = (budget) =>
  doTask(createWaypost({ baseUrl: 'https://directory.example' }), 'weather', {}, { budget })
const kit: Promise<Kit> = createWaypost({ baseUrl: 'https://directory.example' }).kit('x402.a')
export const used: [typeof kit, typeof allowedBy, Difference?, Lock?, WaypostError?] = [kit, allowedBy]
`,
    )
    const options = { module: 'nodenext', target: 'es2022', strict: true, noEmit: true, types: [] }
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...options, skipLibCheck: false }, files: ['use.ts'] }),
    )
    const tsc = resolve('node_modules/typescript-native/bin/tsc')
    const { stdout } = await run(process.execPath, [tsc, '-p', folder]).catch((error) => error)
    expect(stdout).toBe('')
  })
})
