import { type DerivedListing, trustScoreOf } from '../derived/derived-listing.ts'
import { lastPartOf } from '../operation/surface.ts'
import { callPath, pagePath } from '../wire/links.ts'
import type { Effect } from '../wire/vocabulary.ts'
import {
  type FoundOperation,
  toFoundHttp,
  toFoundSkill,
  toFoundTool,
  toFoundWhole,
} from './found-operation.ts'
import { toKitInvoke } from './kit-invoke.ts'
import { toKitOperations } from './kit-operations.ts'
import { toKitAgent } from './kit-view.ts'

/** What is searched of an operation, beside its listing's own words. */
export interface OperationEntry {
  found: FoundOperation
  /** Its name and task. */
  names: string[]
  description: string
  /** Lowest price in US dollars; null where none is known of it. */
  minUsd: number | null
  /** What a call of it changes; null for a server or an agent as a whole. */
  effect: Effect | null
}

/**
 * All that may be asked of a listing, each as an answer shows it. A server and an agent are found as a
 * whole too, with where they are reached: a question may be about them and name no deed.
 */
export function toOperationEntries(listing: DerivedListing, baseUrl: string): OperationEntry[] {
  const { id, facts, surface, trust, buy } = listing
  const shown = {
    ...{ id, name: facts.name, kind: facts.kind, trust: trustScoreOf(trust) },
    ...{ auth: facts.auth.type, page: pagePath(id) },
  }
  const relayUrl = buy.buy === 'relay_x402' ? `${baseUrl}${callPath(id)}` : null
  const agent = toKitAgent(listing)
  const invoke = toKitInvoke(facts.invoke, facts.auth)
  const reached = { ...facts, invoke, ...(agent !== undefined && { agent }) }
  const whole = toFoundWhole(reached)
  const toEntry = (
    operation: FoundOperation['operation'],
    names: string[],
    description = '',
  ): OperationEntry => ({
    found: { listing: shown, operation },
    names,
    description,
    minUsd: operation.price?.min_usd ?? null,
    effect: operation.effect ?? null,
  })
  return [
    ...toKitOperations(listing, relayUrl).map((operation) => {
      const { url, task, description } = operation
      const names = [lastPartOf(url), ...(task === undefined ? [] : [task.replaceAll('_', ' ')])]
      return toEntry(toFoundHttp(operation), names, description)
    }),
    ...surface.tools.map((tool) => {
      const names = tool.title === undefined ? [tool.name] : [tool.name, tool.title]
      return toEntry(toFoundTool(tool, reached), names, tool.description)
    }),
    ...surface.skills.map((skill) => {
      const said = [skill.description, ...(skill.examples ?? [])].join(' ')
      return toEntry(toFoundSkill(skill, reached), [skill.name], said)
    }),
    ...(whole === null ? [] : [toEntry(whole, [facts.name], facts.summary)]),
  ]
}
