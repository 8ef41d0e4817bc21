import { afterEach, describe, expect, test } from 'vitest'
import type { HttpLimits } from '../../functions/net/guard.ts'
import { probeHandshake } from '../../functions/probes/handshake.ts'
import type { Handshake } from '../../src/domain/probe/plan.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { startSite } from '../support/site.ts'
import { HOSTILE_SITES } from './hostile-sites.ts'
import { createTestClient, paidRequest, type Site, startRawSite } from './probe-world.ts'

const BOUNDS = { bodyBytes: 256 * 1024, decodedBytes: 1024 * 1024 }
/** For sellers that only a deadline ends; to all others it must not matter how busy the machine is. */
const QUICK = { ...BOUNDS, answerMs: 400 }

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function handshakesWith(url: string): Handshake[] {
  const request = paidRequest(url)
  return [
    { kind: 'payment', rails: ['x402', 'mpp'], requests: [request] },
    { kind: 'http', rails: [], requests: [{ ...request, is_paid: false }] },
    { kind: 'mcp', url },
    { kind: 'mcp_sse', url },
    { kind: 'a2a', urls: [url] },
  ]
}

async function probeAll(site: Site, limits: Partial<HttpLimits> = BOUNDS) {
  closing.push(site.close)
  const client = createTestClient(limits)
  closing.push(client.close)
  return Promise.all(
    handshakesWith(`${site.url}/a`).map((handshake) => probeHandshake(handshake, client, Date.now)),
  )
}

describe('a hostile seller', () => {
  test.each(HOSTILE_SITES)(
    'that $name gets an outcome on every protocol',
    async ({ name, answer, isEndless }) => {
      const findings = await probeAll(await startSite(answer), isEndless ? QUICK : BOUNDS)
      expect(findings).toHaveLength(5)
      for (const { protocol, outcome, saw } of findings) {
        // Of a document that is longer than we read, only its type is judged.
        const isLong = protocol === 'http' && /never ends its body|bomb/.test(name)
        expect(isLong ? ['spoke'] : ['dead', 'wrong_protocol'], saw).toContain(outcome)
        expect(saw.length).toBeLessThanOrEqual(200)
        expect(saw).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      }
    },
  )

  test.each([
    ['closes at once', (socket: import('node:net').Socket) => socket.destroy(), 'dead'],
    [
      'speaks no HTTP',
      (socket: import('node:net').Socket) => socket.write('SSH-2.0-x\r\n'),
      'wrong_protocol',
    ],
    [
      'sends headers without end',
      (socket: import('node:net').Socket) =>
        socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(200_000)}`),
      'wrong_protocol',
    ],
    ['says nothing', () => {}, 'dead'],
  ] as const)('that %s is not a failure of ours', async (_, onConnect, outcome) => {
    const limits = outcome === 'dead' ? QUICK : BOUNDS
    const findings = await probeAll(await startRawSite(onConnect), limits)
    expect(findings.map((finding) => finding.outcome)).toEqual(findings.map(() => outcome))
  })

  test('that is not there is dead', async () => {
    const site = await startSite(() => {})
    await site.close()
    const [finding] = await probeAll({ ...site, close: async () => {} })
    expect(finding).toMatchObject({ outcome: 'dead', failure: 'refused' })
  })

  test('a redirect is never followed, whatever the status', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const other = await startSite((_req, res) => res.end('{}'))
      closing.push(other.close)
      const findings = await probeAll(
        await startSite((_req, res) => res.writeHead(status, { location: other.url }).end()),
      )
      expect(findings.map(({ outcome }) => outcome)).toEqual(findings.map(() => 'wrong_protocol'))
      expect(other.requested).toEqual([])
    }
  })
})

describe('names', () => {
  test('a name that does not exist is dead, silent and failing name servers are nobody’s fault', async () => {
    const dns = await startDnsServer()
    closing.push(dns.close)
    const client = createTestClient({ connectMs: 9000, answerMs: 9000 }, dns.address)
    closing.push(client.close)
    const probe = (host: string) =>
      probeHandshake({ kind: 'mcp', url: `http://${host}/mcp` }, client, Date.now)
    expect(await probe('nowhere.example')).toMatchObject({ outcome: 'dead' })
    dns.mood = 'servfail'
    expect(await probe('a.example')).toMatchObject({ outcome: 'unknown', failure: 'dns' })
    dns.close()
    closing.splice(0, 1)
    // Nobody listens at the name server's port now: its refusal is not a seller's.
    expect(await probe('b.example')).toMatchObject({ outcome: 'unknown', failure: 'dns' })
  })

  test('a name that moves to a private address is not dialled', async () => {
    const dns = await startDnsServer()
    closing.push(dns.close)
    dns.a.set('rebind.example', ['169.254.169.254'])
    dns.a.set('mixed.example', ['127.0.0.1', '169.254.169.254'])
    const client = createTestClient({}, dns.address)
    closing.push(client.close)
    for (const host of ['rebind.example', 'mixed.example'])
      expect(
        await probeHandshake({ kind: 'a2a', urls: [`http://${host}/card`] }, client, Date.now),
      ).toMatchObject({ outcome: 'unprobeable', failure: 'address_refused' })
  })
})
