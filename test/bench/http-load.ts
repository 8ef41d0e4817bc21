import { connect, type Socket } from 'node:net'

const HEADERS_END = '\r\n\r\n'

/** Load as cheap as it can be made: kept-alive connections, answers found by their Content-Length. */
export interface LoadResult {
  answers: number
  /** Answers of another status than expected, and connections that broke. */
  failures: number
  bytes: number
  seconds: number
  /** Of every answer, sorted, milliseconds. */
  latencies: number[]
}

export interface LoadOptions {
  connections: number
  /** Ends after so many requests, or seconds. */
  requests?: number
  seconds?: number
  /** `Accept-Encoding`. */
  coding?: string | undefined
  /** Further header lines, each with its end. */
  headers?: string
  /** Of every answer: 200. */
  status?: number
}

/** Asks the paths in turn, each connection the next one as soon as its answer is whole. */
export async function load(
  port: number,
  paths: readonly string[],
  options: LoadOptions,
): Promise<LoadResult> {
  const { connections, requests = Number.POSITIVE_INFINITY, seconds, coding } = options
  const { headers = '', status = 200 } = options
  const result: LoadResult = { answers: 0, failures: 0, bytes: 0, seconds: 0, latencies: [] }
  const started = performance.now()
  const end = seconds === undefined ? Number.POSITIVE_INFINITY : started + seconds * 1000
  const head = `Host: 127.0.0.1:${port}\r\nAccept: */*\r\n${coding === undefined ? '' : `Accept-Encoding: ${coding}\r\n`}${headers}\r\n`
  let sent = 0
  const nextRequest = () => {
    if (sent >= requests || performance.now() >= end) return null
    sent += 1
    return `GET ${paths[(sent - 1) % paths.length]} HTTP/1.1\r\n${head}`
  }
  await Promise.all(
    Array.from({ length: connections }, () => work(port, nextRequest, result, status)),
  )
  result.seconds = (performance.now() - started) / 1000
  result.latencies.sort((a, b) => a - b)
  return result
}

/** @param share 0.99: what 99 of 100 were at most; a hundredth of a thousand is ten answers. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
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

/** One connection, opened anew where it breaks. */
async function work(
  port: number,
  nextRequest: () => string | null,
  result: LoadResult,
  status: number,
): Promise<void> {
  let socket: Socket | null = null
  for (let request = nextRequest(); request !== null; request = nextRequest()) {
    const started = performance.now()
    try {
      socket ??= await open(port)
      if ((await exchange(socket, request, result)) !== status) result.failures += 1
      result.answers += 1
      result.latencies.push(performance.now() - started)
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

/** The body is only counted. @returns the answer's status */
function exchange(socket: Socket, request: string, result: LoadResult): Promise<number> {
  return new Promise((resolve, reject) => {
    let missing = -1
    let head = ''
    const onData = (bytes: Buffer) => {
      result.bytes += bytes.length
      let body = bytes.length
      if (missing < 0) {
        head += bytes.toString('latin1')
        const end = head.indexOf(HEADERS_END)
        if (end < 0) return
        missing = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
        body = head.length - end - HEADERS_END.length
      }
      missing -= body
      if (missing > 0) return
      done()
      resolve(Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)))
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
