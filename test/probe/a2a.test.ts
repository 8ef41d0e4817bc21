import { describe, expect, onTestFinished, test } from 'vitest'
import { probeHandshake } from '../../functions/probes/handshake.ts'
import { CARD_PATHS } from '../../src/domain/probe/a2a.ts'
import { startSite } from '../support/site.ts'
import { startAgent } from './a2a-sites.ts'
import { openClient, type Site } from './probe-world.ts'

function probe(site: Site) {
  onTestFinished(site.close)
  const urls = CARD_PATHS.map((path) => site.url + path)
  return probeHandshake({ kind: 'a2a', urls }, openClient(), Date.now)
}

describe('an agent', () => {
  test.each([
    [['1.0'], '1.0'],
    [['1.0', '0.3'], '1.0'],
    [['0.3'], '0.3'],
  ])(
    'of the official package, interfaces %j, speaks without a message',
    async (versions, version) => {
      const site = await startAgent(versions)
      expect(await probe(site)).toMatchObject({
        outcome: 'spoke',
        protocol: 'a2a',
        version,
        sight: {
          server: { name: 'Planner', version: '3.2.1', protocol: version, binding: 'JSONRPC' },
          skills: [
            { id: 'plan', name: 'Plan a trip', description: 'By rail.', examples: ['Ghent'] },
          ],
        },
      })
      expect(site.requested).toEqual([`GET ${CARD_PATHS[0]}`])
    },
  )

  const former = {
    name: 'Old planner',
    description: '',
    version: '1',
    protocolVersion: '0.3.0',
    capabilities: {},
    defaultInputModes: ['text'],
    defaultOutputModes: ['text'],
    skills: [],
  }
  const serve = (card: (url: string) => unknown, path: string) =>
    startSite((req, res) => {
      if (req.url !== path) return res.writeHead(404).end()
      return res
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(card(`http://${req.headers.host}`)))
    })

  test.each([
    ['of 0.3', { supportedInterfaces: null, preferredTransport: null, provider: null }],
    ['of 1.0', { url: null, protocolVersion: null, iconUrl: null }],
  ])('may write null for what its card %s does not say', async (_name, nulls) => {
    const site = await serve((url) => {
      const skills = [{ id: 's', name: 'S', description: 'S.', tags: [], examples: null }]
      const supportedInterfaces = [{ url, protocolBinding: 'JSONRPC', protocolVersion: null }]
      return { ...former, skills, url, supportedInterfaces, ...nulls }
    }, CARD_PATHS[0])
    expect(await probe(site)).toMatchObject({ outcome: 'spoke', sight: { skills: [{ id: 's' }] } })
  })

  test('of protocol 0.3 speaks from its former place', async () => {
    const site = await serve((url) => ({ ...former, url: `${url}/a2a` }), CARD_PATHS[1])
    expect(await probe(site)).toMatchObject({ outcome: 'spoke', version: '0.3.0' })
  })

  test.each([
    [
      'with its interface on another domain',
      { ...former, url: 'https://other.example/a2a' },
      'other.example',
    ],
    ['without skills', { ...former, url: 'http://127.0.0.1/', skills: undefined }, 'skills'],
    ['that is a list', [former], 'not valid'],
    ['with a file for an interface', { ...former, url: 'file:///etc/passwd' }, 'url'],
  ])('%s is the wrong protocol', async (_, card, word) => {
    const finding = await probe(await serve(() => card, CARD_PATHS[0]))
    expect(finding.outcome).toBe('wrong_protocol')
    expect(finding.saw).toContain(word)
  })
})
