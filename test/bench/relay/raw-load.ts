import { connect, type Socket } from 'node:net'

/** Load as cheap as it can be made: a fixed request, answers found by their Content-Length. */
export interface LoadResult {
  answers: number
  failures: number
  seconds: number
  /** Sorted, milliseconds. */
  latencies: number[]
}

export async function load(
  port: number,
  path: string,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<LoadResult> {
  const result: LoadResult = { answers: 0, failures: 0, seconds, latencies: [] }
  const startedAt = performance.now()
  const end = startedAt + seconds * 1000
  const workers = Array.from({ length: connections }, () => work(port, path, end, result))
  await Promise.all(workers)
  result.seconds = (performance.now() - startedAt) / 1000
  result.latencies.sort((a, b) => a - b)
  return result
}

/** @returns bytes of body received. */
export function drain(port: number, path: string, client = 1): Promise<number> {
  return new Promise((resolve, reject) => {
    let received = 0
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: bench\r\nX-Forwarded-For: 192.0.2.${client}\r\nConnection: close\r\n\r\n`,
      ),
    )
    socket.on('data', (bytes) => {
      received += bytes.length
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

async function work(port: number, path: string, end: number, result: LoadResult): Promise<void> {
  const request = `GET ${path} HTTP/1.1\r\nHost: bench\r\n\r\n`
  let socket: Socket | null = null
  while (performance.now() < end) {
    const startedAt = performance.now()
    try {
      socket ??= await open(port)
      await exchange(socket, request)
      result.answers += 1
      result.latencies.push(performance.now() - startedAt)
    } catch {
      result.failures += 1
      socket?.destroy()
      socket = null
    }
  }
  socket?.destroy()
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}

function exchange(socket: Socket, request: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = ''
    const onData = (bytes: Buffer) => {
      received += bytes.toString('latin1')
      const end = received.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1]
      if (received.length < end + 4 + Number(length)) return
      done()
      if (received.startsWith('HTTP/1.1 200')) resolve()
      else reject(new Error(received.slice(0, 200)))
    }
    const onClose = () => {
      done()
      reject(new Error('closed'))
    }
    const done = () => socket.off('data', onData).off('close', onClose)
    socket.on('data', onData).once('close', onClose)
    socket.write(request)
  })
}
