import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'

const MESSAGES: [string, string][] = [
  ['/mcp', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'],
  [
    '/a2a',
    '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"weather"}]}}}',
  ],
]

test('nobody waits for packages that the first message would load', async () => {
  const STATE_DIR = tempFolder('attack')
  const child = fork(join(import.meta.dirname, 'served-fixture.ts'), {
    env: { ...process.env, STATE_DIR },
  })
  const [{ port }] = await once(child, 'message')
  const send = async ([path, body]: [string, string]) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
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
    child.send('loaded?')
    expect(await once(child, 'message')).toEqual([0, undefined])
  } finally {
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
})
