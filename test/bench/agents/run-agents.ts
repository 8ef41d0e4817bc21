/** `npm run bench:agents`: what an agent reads from a question to its first correct call, by door. */
import { spawnSync } from 'node:child_process'
import { openDocumentedSellers } from '../../callable/documented-sellers.ts'
import { sendTold } from '../../callable/told-requests.ts'
import { startService } from '../../support/running-service.ts'
import { AGENT_TASKS, type AgentTask } from './agent-tasks.ts'
import { DOORS, type Door, type Found } from './doors.ts'

/** What an agent may have to read through MCP, in the median over the tasks. */
const MOST_MCP_BYTES = 3072
const MOST_MCP_CALLS = 2

interface Cost {
  requests: number
  bytes: number
  isRight: boolean
}

const BASE_URL = 'https://directory.example'
const env = {
  CONTENT_DIR: 'content',
  OUT_DIR: '.cache/bench-agents',
  STATE_DIR: '.cache/no-state',
  BASE_URL,
  RATE_LIMITS: '{"search":"off"}',
  DATABASE_URL: '',
  SMTP_URL: '',
}
const built = spawnSync(process.execPath, ['functions/commands/build.ts'], {
  env: { ...process.env, ...env },
  encoding: 'utf8',
})
if (built.status !== 0)
  throw new Error(`the content was not built:\n${built.stdout}${built.stderr}`)
const { url, close } = await startService(env)
const sellers = await openDocumentedSellers()
const costs = new Map<string, (Cost | null)[]>()
for (const [name, door] of Object.entries(DOORS)) {
  costs.set(name, [])
  for (const task of AGENT_TASKS) costs.get(name)?.push(await measure(door, task))
}
sellers.close()
await close()
print()

async function measure(door: Door, task: AgentTask): Promise<Cost | null> {
  let requests = 0
  let bytes = 0
  const count = (text: string) => {
    requests += 1
    bytes += Buffer.byteLength(text)
  }
  const found = await door(task, {
    url,
    count,
    async read(path, body, headers = {}) {
      const response = await fetch(`${url}${path}`, {
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`)
      count(text)
      return text
    },
  })
  return found === null ? null : { requests, bytes, isRight: await judge(found) }
}

/** A request that the seller's documentation takes, a command as its maker starts it, a card. */
async function judge(found: Found): Promise<boolean> {
  if (found.kind === 'start')
    return (
      found.command === 'postgres-mcp --access-mode=restricted' &&
      found.env.includes('DATABASE_URI')
    )
  const request = found.kind === 'card' ? { method: 'GET', url: found.url } : found.request
  const { status } = await sendTold(sellers.port, request)
  return status === 200 || status === 402
}

function print(): void {
  const names = [...costs.keys()]
  console.log(
    `bytes in requests, from the question to the first call; ✗ where the call is not right, – where the door has none`,
  )
  console.log(['task'.padEnd(40), ...names.map((name) => name.padStart(14))].join(''))
  AGENT_TASKS.forEach(({ q }, row) => {
    const cells = names.map((name) => toCell(costs.get(name)?.[row] ?? null).padStart(14))
    console.log([q.padEnd(40), ...cells].join(''))
  })
  const medians = names.map((name) => {
    const right = (costs.get(name) ?? []).filter((cost) => cost?.isRight === true)
    return right.length === 0 ? '–' : `${median(right, 'bytes')} in ${median(right, 'requests')}`
  })
  console.log(['median'.padEnd(40), ...medians.map((text) => text.padStart(14))].join(''))
  const mcp = costs.get('MCP') ?? []
  const isFrugal =
    mcp.every((cost) => cost?.isRight === true) &&
    median(mcp, 'bytes') <= MOST_MCP_BYTES &&
    median(mcp, 'requests') <= MOST_MCP_CALLS
  if (!isFrugal) {
    console.error(`MCP: expected ${MOST_MCP_BYTES} bytes in ${MOST_MCP_CALLS} calls at most`)
    process.exitCode = 1
  }
}

function toCell(cost: Cost | null): string {
  if (cost === null) return '–'
  return `${cost.isRight ? '' : '✗ '}${cost.bytes} in ${cost.requests}`
}

function median(all: readonly (Cost | null)[], member: 'bytes' | 'requests'): number {
  const values = all.flatMap((cost) => (cost === null ? [] : [cost[member]])).sort((a, b) => a - b)
  return values[Math.floor(values.length / 2)] ?? 0
}
