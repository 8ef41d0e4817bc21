import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { serveFixture } from '../support/running-service.ts'

const waypost = serveFixture()

/** What a client reads when its time is up, having sent `text`. Node's own timer would take seconds. */
async function readAfterTimeout(text: string): Promise<string> {
  const { server } = waypost.service
  const opened = once(server, 'connection')
  const client = connect(Number(new URL(waypost.url).port), '127.0.0.1')
  const [socket]: Socket[] = await opened
  if (socket === undefined) throw new Error('expected a connection')
  if (text !== '') {
    const arrived = new Promise((resolve) => socket.prependOnceListener('data', resolve))
    client.write(text)
    await arrived
  }
  let read = ''
  client.on('data', (bytes) => {
    read += bytes
  })
  const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
  server.emit('clientError', late, socket)
  await once(client, 'close')
  return read
}

test('a connection that a browser opened in advance is closed without a word', async () => {
  expect(await readAfterTimeout('')).toBe('')
})

test('a request that never ends is told so', async () => {
  expect(await readAfterTimeout('GET / HTTP/1.1\r\nHost: x')).toMatch(
    /^HTTP\/1\.1 400 [\s\S]*did not arrive within/,
  )
})
