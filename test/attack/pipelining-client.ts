import { connect } from 'node:net'

/**
 * The attack of a client that writes many requests at once and then keeps silent: every request is
 * small, every answer large. Bounded: it ends after `rounds` connections in each place, or on `stop`.
 */
export interface PipeliningOptions {
  port: number
  path: string
  /** Connections open at a time. */
  connections: number
  /** Requests written at once to each connection. */
  requests: number
  /** Whether answers are read; the other kind of attacker lets them pile up. */
  isReading: boolean
  /** How often a connection that the server closed is opened again. */
  rounds: number
  localAddress?: string
}

export interface Pipelining {
  /** Answers seen so far, by status; nothing where they are not read. */
  answers: Map<number, number>
  /** Connections the server has closed. */
  closed(): number
  /** Resolves when no connection is left, or it was stopped. */
  over: Promise<void>
  stop(): void
}

export function startPipelining(options: PipeliningOptions): Pipelining {
  const answers = new Map<number, number>()
  const stopping = new AbortController()
  let closed = 0
  const onClosed = () => {
    closed += 1
  }
  const places = Array.from({ length: options.connections }, async () => {
    for (let round = 0; round < options.rounds && !stopping.signal.aborted; round += 1)
      await runConnection(options, { answers, onClosed, signal: stopping.signal })
  })
  return {
    answers,
    closed: () => closed,
    over: Promise.all(places).then(() => {}),
    stop: () => stopping.abort(),
  }
}

interface Round {
  answers: Map<number, number>
  onClosed: () => void
  signal: AbortSignal
}

function runConnection(options: PipeliningOptions, round: Round): Promise<void> {
  const { port, path, requests, isReading, localAddress } = options
  // As small as requests come: 64 KiB, what is read at once, holds more than a thousand.
  const request = `GET ${path} HTTP/1.1\r\nHost: w\r\n\r\n`
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', ...(localAddress && { localAddress }) })
    const stop = () => socket.destroy()
    round.signal.addEventListener('abort', stop)
    socket.on('error', () => {})
    socket.on('connect', () => socket.write(request.repeat(requests)))
    if (isReading) socket.on('data', (chunk) => countAnswers(chunk, round.answers))
    // Nothing is read, but the end of the connection is noticed all the same: writing fails.
    else socket.pause()
    const knock = isReading ? undefined : setInterval(() => socket.write('\r\n'), 200)
    socket.once('close', () => {
      clearInterval(knock)
      round.signal.removeEventListener('abort', stop)
      if (!round.signal.aborted) round.onClosed()
      resolve()
    })
  })
}

function countAnswers(chunk: Buffer, answers: Map<number, number>): void {
  for (const [, status] of chunk.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3}) /g))
    answers.set(Number(status), (answers.get(Number(status)) ?? 0) + 1)
}
