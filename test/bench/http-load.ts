import { connect } from 'node:net'

const HEADERS_END = '\r\n\r\n'

export interface LoadResult {
  responses: number
  bytes: number
  seconds: number
  notOk: number
}

/** Sends GET requests over kept-alive connections, each a new one as soon as its answer is whole. */
export async function loadServer(
  port: number,
  paths: readonly string[],
  options: { connections: number; requests: number; coding?: string },
): Promise<LoadResult> {
  const result: LoadResult = { responses: 0, bytes: 0, seconds: 0, notOk: 0 }
  let sent = 0
  const coding = options.coding === undefined ? '' : `Accept-Encoding: ${options.coding}\r\n`
  const nextRequest = () => {
    if (sent === options.requests) return null
    const path = paths[sent % paths.length]
    sent += 1
    return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: application/json\r\n${coding}\r\n`
  }
  const started = performance.now()
  const connections = Array.from({ length: options.connections }, () =>
    runConnection(port, nextRequest, result),
  )
  await Promise.all(connections)
  result.seconds = (performance.now() - started) / 1000
  return result
}

/** One connection: the answer's length comes from its header, its body is only counted. */
function runConnection(
  port: number,
  nextRequest: () => string | null,
  result: LoadResult,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let missing = -1
    let head = ''
    const ask = () => {
      const request = nextRequest()
      if (request === null) socket.end(resolve)
      else socket.write(request)
    }
    socket.on('connect', ask)
    socket.on('error', reject)
    socket.on('data', (chunk) => {
      result.bytes += chunk.length
      let body = chunk.length
      if (missing < 0) {
        head += chunk.toString('latin1')
        const end = head.indexOf(HEADERS_END)
        if (end < 0) return
        if (!head.startsWith('HTTP/1.1 200')) result.notOk += 1
        missing = Number(/content-length: (\d+)/i.exec(head)?.[1])
        body = head.length - end - HEADERS_END.length
        head = ''
      }
      missing -= body
      if (missing > 0) return
      missing = -1
      result.responses += 1
      ask()
    })
  })
}
