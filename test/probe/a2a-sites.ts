import { createServer } from 'node:http'
import { AgentCard } from '@a2a-js/sdk'
import { agentCardHandler } from '@a2a-js/sdk/server/express'
import express from 'express'
import { CARD_PATHS } from '../../src/domain/probe/a2a.ts'
import { listen, type Site } from './probe-world.ts'

/** An agent of the official package; its own messages would be answered elsewhere, and nobody asks. */
export async function startAgent(versions: string[]): Promise<Site & { requested: string[] }> {
  const requested: string[] = []
  const app = express()
  const server = createServer(app)
  const site = await listen(server)
  const card = AgentCard.fromJSON({
    name: 'Planner',
    description: 'Plans trips.',
    version: '3.2.1',
    supportedInterfaces: versions.map((protocolVersion) => ({
      url: `${site.url}/a2a`,
      protocolBinding: 'JSONRPC',
      protocolVersion,
    })),
    capabilities: { streaming: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [
      {
        id: 'plan',
        name: 'Plan a trip',
        description: 'By rail.',
        tags: ['rail'],
        examples: ['Ghent'],
      },
    ],
  })
  app.use((req, _res, next) => {
    requested.push(`${req.method} ${req.path}`)
    next()
  })
  const legacyCompat = { enabled: versions.includes('0.3') }
  app.use(CARD_PATHS[0], agentCardHandler({ agentCardProvider: async () => card, legacyCompat }))
  return { ...site, requested }
}
