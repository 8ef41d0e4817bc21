import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { openStore } from '../../functions/store/open-store.ts'
import { runRefresh } from '../../seeds/commands/refresh.ts'
import { createChain, createNode, payment } from '../meter/chain-double.ts'
import { prove } from '../meter/meter-world.ts'
import { listen, type Site } from '../probe/probe-world.ts'
import { createContentFixture } from '../seeds/content-fixture.ts'
import { server } from '../seeds/registry-rows.ts'
import { NETWORK, TOKEN, wallet } from '../settlements/samples.ts'
import { listingText } from '../support/content-folder.ts'
import { BARE_ENV } from '../support/fixture-env.ts'
import { IS_LONG, longTest } from '../support/long.ts'
import { runHere } from '../support/run-here.ts'
import { silentLog } from '../support/stores.ts'
import { tempFolder } from '../support/temp-folder.ts'

const SHOPS = ['a', 'b', 'c']
const PAYEE = wallet(1)
const terms = (amount: string) =>
  Buffer.from(
    JSON.stringify({
      x402Version: 2,
      accepts: [
        {
          scheme: 'exact',
          network: NETWORK,
          amount,
          asset: TOKEN,
          payTo: PAYEE,
        },
      ],
    }),
  ).toString('base64')

const chain = createChain({ start: Date.now() - 600_000, blockMs: 10_000 })
const node = createNode(chain)
const sites: Site[] = []
let content: ReturnType<typeof createContentFixture>
/** What a host was asked, and how many it was asked at once. */
let requested: string[] = []
let atOnce = 0
let child: ChildProcess | undefined
/** Whether the run is killed as this request comes in. */
let isDeadly = (_line: string) => false

/** One double of everything outside: it counts, and kills the run when it is told to. */
async function startHost(
  answer: (req: IncomingMessage, res: ServerResponse, body: string) => void,
) {
  let here = 0
  const site = await listen(
    createServer(async (req, res) => {
      here += 1
      atOnce = Math.max(atOnce, here)
      res.on('close', () => {
        here -= 1
      })
      const body = Buffer.concat(await req.toArray()).toString()
      const line = `${req.method} ${req.url} ${body}`
      requested.push(line)
      if (isDeadly(line)) child?.kill('SIGKILL')
      else answer(req, res, body)
    }),
  )
  sites.push(site)
  return site
}

const ROWS = ['one', 'two', 'three', 'four'].map((name) => server(`a.b/${name}`))
/** What the registry calls deleted. */
const gone = new Set<string>()
let args: string[] = []
let rpcUrls = ''
let state = ''

beforeAll(async () => {
  content = createContentFixture()
  await content.seed({ from: content.save(ROWS), now: new Date().toISOString() })
  await content.accept()
  const registry = await startHost((_, res) => {
    const at = (name: string) => ({ status: gone.has(name) ? 'deleted' : 'active' })
    const servers = ROWS.map((each) => ({
      server: each,
      _meta: { 'io.modelcontextprotocol.registry/official': at(each.name) },
    }))
    res.end(JSON.stringify({ servers, metadata: {} }))
  })
  const broken = await startHost((_, res) => res.writeHead(404).end('gone'))
  for (const shop of SHOPS) {
    const { url } = await startHost((_, res) =>
      res.writeHead(402, { 'payment-required': terms(shop === 'b' ? '90000' : '10000') }).end('{}'),
    )
    const sources = '[{ source: mcp_registry, ref: "https://docs.weather.example/" }]'
    const pricing = `{ model: per_call, min_usd: 0.01, max_usd: 0.05, rails: [x402], networks: ["${NETWORK}"] }`
    const changes = { name: `Shop ${shop}`, url: `${url}/now`, sources, pricing }
    const payout = shop === 'a' && { payout: `["${NETWORK}:${PAYEE}"]` }
    content.write(`listings/x402/${shop}.md`, listingText({ ...changes, ...payout }))
  }
  const rpc = await startHost((_, res, body) => {
    const { method, params } = JSON.parse(body)
    res.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: node.answer(method, params) }))
  })
  rpcUrls = JSON.stringify({ [NETWORK]: rpc.url })
  chain.mine(payment(wallet(2), PAYEE, 1_000))
  chain.mine(...Array.from({ length: 30 }, () => []))
  args = [`mcp-registry=${registry.url}/v0.1/servers`, `docker=${broken.url}/catalog`]
  state = tempFolder('refresh')
  await using store = await openStore({ STATE_DIR: state, DATABASE_URL: undefined }, silentLog)
  await prove(store, [PAYEE])
})
afterAll(async () => {
  for (const site of sites) await site.close()
})

/** The content and the ledger as they are before the run, in folders of their own. */
function newPlace() {
  const root = tempFolder('refresh')
  cpSync(content.contentDir, join(root, 'content'), { recursive: true })
  cpSync(state, join(root, 'state'), { recursive: true })
  return root
}

const variablesOf = (root: string) => ({
  CONTENT_DIR: join(root, 'content'),
  STATE_DIR: join(root, 'state'),
  RPC_URLS: rpcUrls,
  UNSAFE_ALLOW_PRIVATE_TARGETS: 'true',
})

async function refresh(root: string) {
  requested = []
  const summary = join(root, 'summary.md')
  rmSync(summary, { force: true })
  const run = () => runRefresh([...args, '--summary', summary])
  const { status, stdout, stderr } = await runHere(run, variablesOf(root))
  const text = existsSync(summary) ? readFileSync(summary, 'utf8') : ''
  return { code: status, out: stdout, fault: stderr, text }
}

/** Kills a run as it makes a request. */
async function kill(root: string, moment: typeof isDeadly) {
  isDeadly = moment
  const env = { ...BARE_ENV, ...variablesOf(root) }
  child = spawn(process.execPath, ['seeds/commands/refresh.ts', ...args], { env, stdio: 'ignore' })
  const [, signal] = await once(child, 'exit')
  isDeadly = () => false
  expect(signal).toBe('SIGKILL')
}

/** Every file of the content, without times. */
function filesOf(root: string): Record<string, string> {
  const dir = join(root, 'content')
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((e) => e.isFile())
  const rows = files.map(({ parentPath, name }) => {
    const path = join(parentPath, name)
    const text = readFileSync(path, 'utf8')
    return [
      path.slice(dir.length),
      text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME').replace(/"ms": ?\d+/g, '"ms": 0'),
    ] as const
  })
  return Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1)))
}

describe('npm run refresh', () => {
  let whole: { root: string; run: Awaited<ReturnType<typeof refresh>> }
  beforeAll(async () => {
    gone.add('a.b/four')
    const root = newPlace()
    atOnce = 0
    whole = { root, run: await refresh(root) }
  })

  test('does every step, asks no host twice at once, and names what failed', () => {
    const { code, text, out } = whole.run
    expect(code, out).toBe(1)
    expect(atOnce).toBe(1)
    expect(requested.filter((line) => line.includes('/now'))).toHaveLength(SHOPS.length)
    expect(text).toContain('## What failed; the rest was done: 1')
    expect(text).toMatch(/- seed: docker: .*expected status 200, got 404; nothing was written/)
    expect(out.trimEnd().endsWith(text.trimEnd())).toBe(true)
  })

  test('says in words what changed: answers, prices, payments', () => {
    expect(whole.run.text).toContain('- x402.c: Our probe: spoke')
    expect(whole.run.text).toMatch(/## Removed: 1\n\n- mcp\.\S*four: Removed: withdrawn/)
    expect(whole.run.text).toMatch(/- x402.b: Another price: .*\$0\.09/)
    expect(whole.run.text).toMatch(/- x402.a: .*Payments: 0 read on chain → 1 read on chain/)
  })

  longTest('says what came back', async () => {
    gone.clear()
    const root = tempFolder('refresh')
    cpSync(whole.root, root, { recursive: true })
    const { text } = await refresh(root)
    expect(text).toMatch(/## Added: 1\n\n- mcp\.\S*four: /)
    gone.add('a.b/four')
  })

  test('changes nothing the second time', async () => {
    const before = filesOf(whole.root)
    const { text, code } = await refresh(whole.root)
    expect(code).toBe(1)
    expect(text).toContain('listings; nothing changed.')
    expect(requested.filter((line) => line.includes('/now'))).toEqual([])
    expect(filesOf(whole.root)).toEqual(before)
  })

  test('killed at any request and repeated it ends as if nothing had been, with the same words', async () => {
    const root = newPlace()
    const nth = (n: number, pattern: RegExp) => {
      let left = n
      return (line: string) => pattern.test(line) && --left === 0
    }
    const others = IS_LONG ? [nth(1, /servers/), nth(2, /now/), nth(1, /eth_/)] : []
    const moments = [...others, nth(4, /eth_/)]
    for (const moment of moments) await kill(root, moment)
    const { text } = await refresh(root)
    expect(text).toBe(whole.run.text)
    expect(filesOf(root)).toEqual(filesOf(whole.root))
  })

  test('a wrong command is 2', async () => {
    const known = args
    args = ['nobody']
    const { code, fault } = await refresh(tempFolder('refresh'))
    args = known
    expect(code).toBe(2)
    expect(fault).toContain('expected one of mcp-registry')
  })
})

test('the daily workflow is that command, and opens a pull request with its words', () => {
  const workflow = parse(readFileSync('.github/workflows/refresh.yml', 'utf8'))
  expect(workflow.on.schedule).toHaveLength(1)
  expect(workflow.permissions).toEqual({ contents: 'write', 'pull-requests': 'write' })
  const text = readFileSync('.github/workflows/refresh.yml', 'utf8')
  expect(text.match(/secrets\.\w+/g)).toBeNull()
  const steps: { run?: string; uses?: string }[] = workflow.jobs.refresh.steps
  for (const { uses } of steps) expect(uses ?? 'a@v1').toMatch(/@v\d+/)
  const runs = steps.map(({ run = '' }) => run).join('\n')
  expect(runs).toContain('npm run -s refresh -- --summary')
  expect(runs).toContain('gh pr create')
})
