import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPlanTask } from '../../functions/search/endpoints.ts'
import { toTaskSellers } from '../../src/domain/plans/task-plan.ts'
import { closeServer, listen } from '../support/listen.ts'
import { createRandom } from '../support/random.ts'
import { listings, TASKS, tables } from './own-catalogue.ts'
import { type Double, type Doubles, FAILURES } from './seller-doubles.ts'

/** Tasks of the real content, each with three to five doubles of its real sellers. */
const MAX_SELLERS = 5
const MIN_SELLERS = 3

/** Sellers of each task whose operation is declared. */
const REAL = Map.groupBy(
  listings.flatMap((listing) =>
    toTaskSellers(listing, tables).flatMap((seller) => {
      const operation = listing.facts.http?.find(
        ({ method, url }) => method === seller.method && url === seller.url,
      )
      return operation === undefined ? [] : [{ seller, operation }]
    }),
  ),
  ({ seller }) => seller.task,
)

/** @returns doubles of each task's sellers; where a task has too few, of one of them twice */
export function toDoubles(seed: number): Double[] {
  const random = createRandom(seed)
  return TASKS.slice(0, 20).flatMap((task) => {
    const real = REAL.get(task.id) ?? []
    const once = [...new Map(real.map((each) => [each.seller.seller.id, each])).values()]
    const count = Math.min(MAX_SELLERS, Math.max(MIN_SELLERS, once.length))
    const failing = new Set<number>()
    while (failing.size < Math.round(count * 0.4)) failing.add(Math.floor(random() * count))
    return Array.from({ length: count }, (_, at): Double => {
      const { seller, operation } = once[at % once.length] ?? raise('expected a seller')
      const id = at < once.length ? seller.seller.id : `${seller.seller.id}.again${at}`
      return {
        task,
        operation,
        seller: { ...seller, seller: { ...seller.seller, id } },
        protocol: (['x402-v1', 'x402-v2', 'mpp'] as const)[Math.floor(random() * 3)] ?? 'mpp',
        usd: seller.usd || Math.round((0.001 + random() * 0.02) * 1e6) / 1e6,
        host: at,
        payee: at + 1,
        fails: failing.has(at) ? (FAILURES[Math.floor(random() * FAILURES.length)] ?? null) : null,
      }
    })
  })
}

export function raise(message: string): never {
  throw new Error(message)
}

/** The three addresses of a directory that a task asks, over the domain's own plan. */
export async function openDirectory(
  doubles: readonly Double[],
  site: Doubles,
  closing: (() => Promise<void>)[],
): Promise<string> {
  const tasks = new Map(
    TASKS.map((task) => {
      const sellers = doubles.filter((each) => each.task.id === task.id).map(site.toRow)
      return [task.id, { task, sellers }] as const
    }),
  )
  const server = createServer((req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://directory.example')
    const [, , , , id = '', plan] = pathname.split('/')
    const found = tasks.get(id)
    if (plan === undefined) return res.end(JSON.stringify(found?.task ?? {}))
    const address = server.address() as AddressInfo
    const parts = {
      release: () => ({ protocolData: { tasks: async () => tasks } }),
      config: { BASE_URL: `http://127.0.0.1:${address.port}` },
    }
    return void createPlanTask(parts as never)(id, searchParams).then((reply) => {
      if (!('plan' in reply)) res.statusCode = 400
      res.end(JSON.stringify('plan' in reply ? reply.plan : reply))
    })
  })
  closing.push(() => closeServer(server))
  return `http://127.0.0.1:${await listen(server)}`
}
