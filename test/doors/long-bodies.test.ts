import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { parseConfig } from '../../functions/ports/config.ts'
import { createBodyBudgets, readProtocolBody } from '../../functions/protocols/requests.ts'
import { createRateLimits } from '../../functions/server/rate-limits.ts'

const MIB = 1024 * 1024
const config = parseConfig({ RATE_LIMITS: '{"search":"off"}', TRUST_PROXY: '1' })

/** A message of another client, which has arrived whole. */
function toRequest(body: string, n: number) {
  const node = new PassThrough()
  node.end(body)
  const request = new Request('http://waypost.example/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': `203.0.113.${n}` },
  })
  return Object.assign(request, { ip: '127.0.0.1', runtime: { node: { req: node } } })
}

test.each([
  ['too many values', `[${'{},'.repeat(200_000)}{}]`],
  ['no JSON', 'x'.repeat(600_000)],
  ['nested too deeply', '['.repeat(600_000)],
])('the server does other things between two long bodies with %s', async (_name, body) => {
  const parts = { config, limits: createRateLimits(config), ...createBodyBudgets() }
  let turn = 0
  let isOver = false
  const count = () => {
    turn += 1
    if (!isOver) setImmediate(count)
  }
  count()
  const refusedIn = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const read = await readProtocolBody(parts, toRequest(body, n), MIB)
      expect(read).toMatchObject({ status: 400 })
      return turn
    }),
  )
  isOver = true
  expect(new Set(refusedIn).size).toBe(20)
})

test('of twenty bodies that have come together, one piece is read in a turn', async () => {
  const parts = { config, limits: createRateLimits(config), ...createBodyBudgets() }
  const seen: number[] = []
  let turn = 0
  let isOver = false
  const count = () => {
    turn += 1
    if (!isOver) setImmediate(count)
  }
  count()
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => {
      const request = toRequest('"x"', n)
      const { req: node } = request.runtime.node
      for (let piece = 0; piece < 4; piece += 1) node.unshift(Buffer.alloc(64 * 1024, ' '))
      node.on('data', () => seen.push(turn))
      node.pause()
      return readProtocolBody(parts, request, MIB)
    }),
  )
  isOver = true
  expect(seen.length).toBeGreaterThanOrEqual(20)
  expect(new Set(seen).size).toBe(seen.length)
})
