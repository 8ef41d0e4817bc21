import { text as readText } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { probeHandshake } from '../../functions/probes/handshake.ts'
import { startSite } from '../support/site.ts'
import { startCurrent, startFormer, startSse } from './mcp-sites.ts'
import { OFFER, openClient, pay, type Site } from './probe-world.ts'

function probe(site: Site, kind: 'mcp' | 'mcp_sse' = 'mcp') {
  onTestFinished(site.close)
  return probeHandshake({ kind, url: `${site.url}/mcp` }, openClient(), Date.now)
}

describe('an MCP server of the official packages', () => {
  test.each(['stateless', 'reject'] as const)(
    'of the current revision (former ones %s) speaks, and its tools are read',
    async (legacy) => {
      const site = await startCurrent(legacy)
      const finding = await probe(site)
      expect(finding).toMatchObject({ outcome: 'spoke', protocol: 'mcp', version: '2026-07-28' })
      expect(finding.sight).toEqual({
        from: 'mcp',
        server: { name: 'harbour', version: '2.1.0', protocol: '2026-07-28' },
        tools: [
          {
            name: 'find_ship',
            title: 'Find a ship',
            description: 'By name or IMO number.',
            input_schema: expect.objectContaining({ type: 'object', required: ['name'] }),
            read_only: true,
          },
        ],
      })
      expect(site.requested).toEqual(['POST server/discover', 'POST tools/list'])
    },
  )

  test.each([true, false])('of the former revision speaks (JSON answers: %s)', async (isJson) => {
    const site = await startFormer(isJson)
    const finding = await probe(site)
    expect(finding).toMatchObject({ outcome: 'spoke', version: '2025-11-25' })
    expect(finding.sight?.tools).toMatchObject([
      { name: 'find_ship', description: 'By name.' },
      { name: 'sink_ship', description: 'sink_ship', destructive: true },
    ])
    expect(site.requested).toEqual([
      'POST server/discover',
      'POST initialize',
      'POST notifications/initialized',
      'POST tools/list',
      'DELETE',
    ])
    expect(site.sessions.size).toBe(0)
  })

  test('of the first transport speaks where the listing declares it', async () => {
    const finding = await probe(await startSse(), 'mcp_sse')
    expect(finding).toMatchObject({ outcome: 'spoke', sight: { server: { name: 'harbour' } } })
    expect(finding.sight?.tools).toHaveLength(2)
  })

  test('of the first transport is the wrong protocol for a listing of streamable HTTP', async () => {
    const finding = await probe(await startSse())
    expect(finding).toMatchObject({ outcome: 'wrong_protocol' })
    expect(finding.saw).toContain('HTTP+SSE')
  })
})

describe('an MCP endpoint', () => {
  test.each([
    [401, 'gated'],
    [403, 'gated'],
    [404, 'dead'],
    [410, 'dead'],
    [500, 'dead'],
    [503, 'dead'],
    [429, 'unknown'],
    [405, 'wrong_protocol'],
  ] as const)('that answers %i is %s', async (status, outcome) => {
    const site = await startSite((_req, res) => res.writeHead(status).end())
    expect(await probe(site)).toMatchObject({ outcome, status })
  })

  test('that asks to be left alone is asked once, and its wish is kept', async () => {
    let requested = 0
    const site = await startSite((_req, res) => {
      requested += 1
      res.writeHead(503, { 'retry-after': '120' }).end()
    })
    expect(await probe(site)).toMatchObject({ outcome: 'unknown', retryAfterS: 120 })
    expect(requested).toBe(1)
  })

  test('behind a payment is gated, and its payout is read', async () => {
    expect(await probe(await startSite(pay))).toMatchObject({
      outcome: 'gated',
      sight: { terms: [{ usd: 0.01, payout: `eip155:8453:${OFFER.payTo}` }] },
    })
  })

  test('with endless pages of tools is read up to the bound', async () => {
    let pages = 0
    const site = await startSite(async (req, res) => {
      const body = await readText(req)
      const { id, method } = JSON.parse(body)
      const tools = Array.from({ length: 100 }, (_, at) => ({ name: `tool_${pages}_${at}` }))
      pages += method === 'tools/list' ? 1 : 0
      const result =
        method === 'tools/list'
          ? { tools, nextCursor: `page ${pages}` }
          : { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }
      res.writeHead(200, { 'content-type': 'application/json' })
      res.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
    const finding = await probe(site)
    expect(finding).toMatchObject({ outcome: 'spoke', sight: { truncated: true } })
    expect(finding.sight?.tools).toHaveLength(500)
    expect(pages).toBeLessThanOrEqual(6)
  })
})
