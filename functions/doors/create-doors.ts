import type { LiveDoorId } from '../../src/domain/wire/door-table.ts'
import type { Relay } from '../call/relay.ts'
import { createBudget } from '../limits/budget.ts'
import type { Handler } from '../parts/handler.ts'
import type { Parts } from '../parts/parts.ts'
import { createArdAgentDoor, createArdSearchDoor } from './ard/ard-door.ts'
import { createDiscoveryDoors } from './discovery/discovery-door.ts'
import { BODY_LIMITS } from './entry/door-limits.ts'
import { createMarkdownDoor } from './markdown/markdown-door.ts'
import { createRegistryDoors } from './registry/registry-door.ts'

/**
 * A handler for each live door. Those that stand on a protocol's package are opened by their first
 * request: loading the packages would otherwise be a good part of every start.
 */
export function createDoors(own: Parts, relay: Relay): Record<LiveDoorId, Handler> {
  const parts = { ...own, bodies: createBudget(BODY_LIMITS) }
  const markdown = createMarkdownDoor(parts)
  return {
    listing_markdown: markdown,
    category_markdown: markdown,
    compare_markdown: markdown,
    mcp: opensOnce(async () => (await import('./mcp/mcp-door.ts')).createMcpDoor(parts, relay)),
    a2a: opensOnce(async () => (await import('./a2a/a2a-door.ts')).createA2aDoor(parts)),
    ...createRegistryDoors(parts),
    ...createDiscoveryDoors(parts),
    ard_search: createArdSearchDoor(parts),
    ard_agent: createArdAgentDoor(parts),
  }
}

/** Requests that come while it opens wait for the same door; one that failed to open is tried again. */
function opensOnce(open: () => Promise<Handler>): Handler {
  let door: Promise<Handler> | undefined
  return async (event) => {
    door ??= open().catch((error: unknown) => {
      door = undefined
      throw error
    })
    return (await door)(event)
  }
}
