import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Pool } from 'undici'
import { createFreshQueries } from './fresh-queries.ts'
import { readListings } from './listing-source.ts'
import { startService } from './relay/contenders.ts'

/**
 * `npm run bench:mcp -- <OUT_DIR>`: searches a second of CPU time through `/mcp`, in the former and the
 * newest revision, beside the same questions to `GET /api/v1/search?view=compact`. No question is asked
 * twice. They are asked in turn, so that what else the machine does disturbs all alike.
 */
const TARGET = 0.5
const ROUNDS = 8
const A_ROUND = 1500
const CONNECTIONS = 16
const NEWEST = '2026-07-28'

const outDir = resolve(process.argv[2] ?? 'dist')
if (!existsSync(outDir)) {
  console.log(`bench:mcp skipped: ${outDir} is absent`)
  process.exit()
}
const { port, cpu, stop } = await startService(outDir, { RATE_LIMITS: '{"search":"off"}' })
const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS })
const WAYS = {
  'compact search': (q: string) => ({
    path: `/api/v1/search?view=compact&limit=5&q=${encodeURIComponent(q)}`,
    method: 'GET',
  }),
  'MCP, former': (q: string) => toCall(q, {}, {}),
  'MCP, newest': (q: string) =>
    toCall(
      q,
      {
        'io.modelcontextprotocol/protocolVersion': NEWEST,
        'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
      {
        'mcp-protocol-version': NEWEST,
        'mcp-method': 'tools/call',
        'mcp-name': 'search_listings',
      },
    ),
}
const queries = createFreshQueries(
  readListings(),
  (ROUNDS + 1) * A_ROUND * Object.keys(WAYS).length,
)
let next = 0
const seconds = new Map<string, number>()
for (let round = 0; round <= ROUNDS; round += 1)
  for (const [name, toRequest] of Object.entries(WAYS)) {
    const before = cpu()
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, n) => ask(toRequest, n)))
    // The first round warms up.
    if (round > 0) seconds.set(name, (seconds.get(name) ?? 0) + cpu() - before)
  }
const each = (name: string) => ((seconds.get(name) ?? 0) / (ROUNDS * A_ROUND)) * 1e6
const own = each('compact search')
for (const name of Object.keys(WAYS)) {
  const share = own / each(name)
  const isMissed = share < TARGET
  if (isMissed) process.exitCode = 1
  console.log(
    `${isMissed ? 'MISS' : 'ok  '} ${name.padEnd(15)} ${each(name).toFixed(0)} µs of CPU time each · ${share.toFixed(2)} × (target ${TARGET})`,
  )
}
await pool.destroy()
stop()

function toCall(query: string, _meta: object, headers: Record<string, string>) {
  const params = { name: 'search_listings', arguments: { query }, _meta }
  return {
    path: '/mcp',
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  }
}

async function ask(toRequest: (q: string) => Parameters<typeof pool.request>[0], from: number) {
  for (let requested = from; requested < A_ROUND; requested += CONNECTIONS) {
    const { statusCode, body } = await pool.request(toRequest(queries[next++] ?? ''))
    const text = await body.text()
    if (statusCode !== 200 || !text.includes('"total"')) throw new Error(text.slice(0, 300))
  }
}
