/** Sends long bodies all at once, each as another client: its arguments are port, name of the body, how many. */
import { once } from 'node:events'
import { connect } from 'node:net'

const MIB = 1024 * 1024

export const BODIES = {
  'too many values': `[${'{},'.repeat(349_000)}{}]`,
  'no JSON': 'x'.repeat(MIB),
  'nested too deeply': '['.repeat(MIB),
  'one long string': `"${'x'.repeat(MIB - 2)}"`,
  'as many values as are taken': JSON.stringify({ x: Array(19_000).fill('y'.repeat(50)) }),
}

if (import.meta.main) {
  const [, , port = '', name = '', count = ''] = process.argv
  const body = new Map(Object.entries(BODIES)).get(name) ?? ''
  await Promise.all(Array.from({ length: Number(count) }, (_, n) => send(Number(port), body, n)))
}

async function send(port: number, body: string, n: number): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.1.${n + 1}` })
  socket.on('error', () => {})
  socket.resume()
  socket.write(
    `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  socket.write(body)
  await once(socket, 'close')
}
