import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import dnsPacket from 'dns-packet'

/** A real name server on loopback, scripted by the test. */
export interface DnsServer {
  /** `ip:port`, as `DNS_SERVERS` takes it. */
  address: string
  /** A and TXT records by lower-case name; a TXT record may be several strings. */
  a: Map<string, string[]>
  txt: Map<string, (string | string[])[]>
  /** How it answers: properly, with SERVFAIL, or not at all. */
  mood: 'well' | 'servfail' | 'silent'
  /** Names it never answers for, whatever its mood; it counts what it is asked all the same. */
  silentFor: Set<string>
  /** Names it never answers AAAA queries for. */
  silentAboutIpv6: Set<string>
  queries: string[]
  close(): void
}

export async function startDnsServer(): Promise<DnsServer> {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const server: DnsServer = {
    address: `127.0.0.1:${socket.address().port}`,
    a: new Map(),
    txt: new Map(),
    mood: 'well',
    silentFor: new Set(),
    silentAboutIpv6: new Set(),
    queries: [],
    close: () => socket.close(),
  }
  socket.on('message', (message, peer) => {
    const reply = answer(server, dnsPacket.decode(message))
    if (reply !== null) socket.send(dnsPacket.encode(reply), peer.port, peer.address)
  })
  return server
}

function isSilent(server: DnsServer, type: string, name: string): boolean {
  return server.silentFor.has(name) || (type === 'AAAA' && server.silentAboutIpv6.has(name))
}

const SERVFAIL = 2
const NXDOMAIN = 3

function answer(server: DnsServer, query: dnsPacket.DecodedPacket): dnsPacket.Packet | null {
  const [question] = query.questions ?? []
  if (question === undefined || server.mood === 'silent') return null
  const name = question.name.toLowerCase()
  server.queries.push(`${question.type} ${name}`)
  if (isSilent(server, question.type, name)) return null
  const reply: dnsPacket.Packet = {
    type: 'response',
    id: query.id ?? 0,
    flags: dnsPacket.RECURSION_AVAILABLE | dnsPacket.RECURSION_DESIRED,
    questions: [question],
    answers: [],
  }
  if (server.mood === 'servfail') return { ...reply, flags: (reply.flags ?? 0) | SERVFAIL }
  const addresses = server.a.get(name)
  const texts = server.txt.get(name)
  if (addresses === undefined && texts === undefined)
    return { ...reply, flags: (reply.flags ?? 0) | NXDOMAIN }
  const answers: dnsPacket.Answer[] = []
  if (question.type === 'A')
    for (const data of addresses ?? []) answers.push({ type: 'A', name, ttl: 0, data })
  if (question.type === 'TXT')
    for (const data of texts ?? []) answers.push({ type: 'TXT', name, ttl: 0, data })
  return { ...reply, answers }
}
