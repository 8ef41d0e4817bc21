/**
 * The search function alone behind h3 and Node's HTTP server, for `search-http.ts`: prints its port,
 * and at `/usage` the CPU seconds and memory it has used.
 */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { flushCompileCache } from 'node:module'
import { H3, HTTPResponse, toNodeHandler } from 'h3'
import { openSearchIndex } from '../../functions/search/open-search-index.ts'
import { createSearch } from '../../functions/search.ts'

const started = performance.now()
const index = openSearchIndex(process.argv[2] ?? '', { verify: process.argv[3] === 'verify' })
const loadMs = performance.now() - started
const texts = {
  featured: [],
  featured_label: 'Our own kits, a showcase; no fee was paid.',
  sponsored_policy: 'Placements are not sold.',
  also_search: [
    { name: 'Another directory', url: 'https://directory.example', note: 'Link only.' },
  ],
  ranking: 'BM25 over name, tags and categories, summary; times trust and Live-Tested.',
  attribution: ['Listings from public registries.'],
}
// Every search anew, and as served: with the queries asked before remembered.
const parts = { index: () => index, texts: () => texts, randomUuid: randomUUID }
const search = createSearch({ ...parts, remembered: 0 })
const remembering = createSearch(parts)

const app = new H3()
app.get('/api/v1/search', ({ req }) => answer(req.url, search))
app.get('/remembering', ({ req }) => answer(req.url, remembering))
function answer(url: string, find: typeof search) {
  const at = url.indexOf('?')
  const reply = find(at < 0 ? '' : url.slice(at + 1))
  if (reply.status !== 200) return new HTTPResponse(JSON.stringify(reply.problems), { status: 400 })
  return new HTTPResponse(reply.body, { status: 200, headers: reply.headers })
}
// What the same server does with a body of the same size that is there already: the ceiling.
const fixed = search('limit=20')
app.get('/fixed', () =>
  fixed.status === 200
    ? new HTTPResponse(fixed.body, { status: 200, headers: fixed.headers })
    : new HTTPResponse('', { status: 500 }),
)
app.get('/usage', () => {
  const { user, system } = process.cpuUsage()
  const rssMb = Math.round(process.memoryUsage().rss / 1024 / 1024)
  return { cpuSeconds: (user + system) / 1e6, rssMb, loadMs }
})

const server = createServer(toNodeHandler(app))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('expected a port')
  flushCompileCache()
  process.stdout.write(`${address.port}\n`)
})
