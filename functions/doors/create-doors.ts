import type { LiveDoorId } from '../../src/domain/wire/door-table.ts'
import type { Relay } from '../call/relay.ts'
import type { Handler } from '../parts/handler.ts'
import type { Parts } from '../parts/parts.ts'
import { createA2aDoor } from './a2a/a2a-door.ts'
import { createArdAgentDoor, createArdSearchDoor } from './ard/ard-door.ts'
import { createDiscoveryDoors } from './discovery/discovery-door.ts'
import { createMarkdownDoor } from './markdown/markdown-door.ts'
import { createMcpDoor } from './mcp/mcp-door.ts'
import { createRegistryDoors } from './registry/registry-door.ts'

/** A handler for each live door. */
export function createDoors(parts: Parts, relay: Relay): Record<LiveDoorId, Handler> {
  const markdown = createMarkdownDoor(parts)
  return {
    listing_markdown: markdown,
    category_markdown: markdown,
    compare_markdown: markdown,
    mcp: createMcpDoor(parts, relay),
    a2a: createA2aDoor(parts),
    ...createRegistryDoors(parts),
    ...createDiscoveryDoors(parts),
    ard_search: createArdSearchDoor(parts),
    ard_agent: createArdAgentDoor(parts),
  }
}
