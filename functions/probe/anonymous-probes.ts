import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { H3Event } from 'h3'
import type { ProbeReply } from '../../src/domain/probe/read/probe-answer.ts'
import { type Budget, createBudget, type Reached } from '../limits/budget.ts'
import { clientOf, nodeClientOf } from '../limits/client-key.ts'
import { createHttpClient, type Fetcher } from '../net/http-client.ts'
import { createOwnAddress } from '../net/own-address.ts'
import { ANONYMOUS_PROBES } from '../net/purposes.ts'
import type { Parts } from '../parts/parts.ts'
import type { Config } from '../ports/config.ts'

const { requests: MAX_REQUESTS, runMs: RUN_MS, retryAfterS: RETRY_S, perHost } = ANONYMOUS_PROBES

export interface Caller {
  client: string
  signal: AbortSignal
  /** The caller's connection; a run never requests the address at our end of it. */
  socket: Socket | undefined
}

export type AnonymousProbes = ReturnType<typeof createAnonymousProbes>

/**
 * Requests that strangers make this service send: checks of an address. One run per client and one
 * per host at a time. A run ends when its caller leaves.
 */
export function createAnonymousProbes({ config, resolver }: Pick<Parts, 'config' | 'resolver'>) {
  const clients = createBudget(ANONYMOUS_PROBES)
  const hosts = createBudget({
    perClient: perHost,
    perNetwork: perHost,
    inAll: ANONYMOUS_PROBES.inAll,
  })
  return {
    async run<T>(url: string, caller: Caller, work: (client: Fetcher) => Promise<T>) {
      const host = new URL(url).host.replace(/\.(?=:|$)/, '')
      const leave = enter(clients, hosts, caller.client, host)
      if (typeof leave === 'string')
        return {
          kind: 'busy' as const,
          reason: `${REASONS[leave]} Try again in ${RETRY_S} s.`,
          headers: { 'Retry-After': String(RETRY_S) },
        }
      const isOwnAddress = caller.socket && createOwnAddress(config.HOST, caller.socket)
      await using http = createHttpClient('stranger', { config, resolver, isOwnAddress })
      return await work(bound(http, caller.signal)).finally(leave)
    },
  }
}

/** @returns a release function for both slots, or the reason for having none. */
function enter(clients: Budget, hosts: Budget, client: string, host: string) {
  const place = clients.take(client)
  if (typeof place === 'string') return place
  const visit = hosts.take(host)
  if (typeof visit !== 'string')
    return () => {
      place.release()
      visit.release()
    }
  place.release()
  return 'host'
}

const REASONS: Record<Reached | 'host', string> = {
  client: 'Each client may check one address at a time, and one check of yours is running.',
  network: 'Several checks for your network are running.',
  host: 'This host is being checked for somebody else.',
  process: 'Many checks are running.',
}

/** How much a run may send and how long it may take; it ends at once when its caller leaves. */
function bound(http: Fetcher, left: AbortSignal): Fetcher {
  const deadline = AbortSignal.timeout(RUN_MS)
  const end = AbortSignal.any([left, deadline])
  let sent = 0
  return {
    async fetch(request) {
      if (sent >= MAX_REQUESTS) return toCutOff(`${MAX_REQUESTS} requests`)
      sent += 1
      const { signal } = request
      const reply = await http.fetch({
        ...request,
        signal: signal === undefined ? end : AbortSignal.any([end, signal]),
      })
      const isComplete = reply.answered && reply.answer.cut === null
      return end.aborted && !isComplete ? toCutOff(`${RUN_MS / 1000} s`) : reply
    },
  }
}

function toCutOff(detail: string): ProbeReply {
  return { answered: false, failure: 'own_bound', detail, ms: 0 }
}

export function toCaller({ req }: Pick<H3Event, 'req'>, config: Config): Caller {
  return {
    client: clientOf(req, config),
    signal: req.signal,
    socket: req.runtime?.node?.req.socket,
  }
}

export function toPageCaller(req: IncomingMessage, res: ServerResponse, config: Config): Caller {
  const left = new AbortController()
  res.once('close', () => {
    if (!res.writableEnded) left.abort()
  })
  return { client: nodeClientOf(req, config), signal: left.signal, socket: req.socket }
}
