import { expect, test } from 'vitest'
import { startFixture } from '../bench/attack/fixture-process.ts'

const MESSAGES: [string, string][] = [
  ['/mcp', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'],
  [
    '/a2a',
    '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"weather"}]}}}',
  ],
]

test('nobody waits for packages that the first message would load', async () => {
  const server = await startFixture()
  const send = async ([path, body]: [string, string]) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body,
    })
    await response.text()
    return response.status
  }
  try {
    expect(await Promise.all(MESSAGES.map(send))).toEqual([200, 200])
    expect(await server.loaded()).toBe(0)
  } finally {
    await server.close()
  }
})
