import { type ArgumentSlot, slotOf, slotsIn } from '../arguments/argument-slots.ts'
import { type DerivedListing, trustScoreOf } from '../derived/derived-listing.ts'
import type { Operation } from '../listing/listing-facts.ts'
import { lowestPriceOf, networksOf, type Pricing, railsOf } from '../listing/pricing.ts'
import { lastPartOf } from '../operation/surface.ts'
import { callPath, pagePath } from '../wire/links.ts'
import { type Effect, RAILS, type Rail } from '../wire/vocabulary.ts'
import {
  type FoundOperation,
  toFoundHttp,
  toFoundSkill,
  toFoundTool,
  toFoundWhole,
} from './found-operation.ts'
import { toKitAgent, toKitInvoke } from './kit-invoke.ts'
import {
  type KitOperation,
  lowestOf,
  type OperationOffers,
  sellsOn,
  toKitOperations,
} from './kit-operations.ts'

/** The searched facts of an operation, in addition to its listing's own words. */
export interface OperationEntry {
  found: FoundOperation
  /** Its name and task. */
  names: string[]
  /** Id of its task. */
  task?: string | undefined
  description: string
  /** Slots of its example that a query can fill. */
  slots: ArgumentSlot[]
  /** Ways to pay for it, and the lowest price in US dollars; null where none is known. */
  rails: readonly Rail[]
  networks: readonly string[]
  offers: NonNullable<Operation['offers']>
  minUsd: number | null
  /** What a call of it changes; null where nobody says it. */
  effect: Effect | null
}

/**
 * All operations of a listing, each as an answer shows it. A server and an agent are also found as
 * a whole, with their address: a query may be about them and name no operation.
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
  const toTerms = readTerms(facts.pricing, [...surface.operations, ...surface.tools])
  const toEntry = (
    operation: FoundOperation['operation'],
    names: string[],
    description = '',
    sold: OperationOffers = {},
    slots: ArgumentSlot[] = [],
  ): OperationEntry => ({
    found: { listing: shown, operation },
    names,
    description,
    slots,
    effect: operation.effect ?? null,
    ...toTerms(sold),
  })
  return [
    ...toKitOperations(listing, relayUrl).map((operation) => {
      const { url, task, description } = operation
      const names = [lastPartOf(url), ...(task === undefined ? [] : [task.replaceAll('_', ' ')])]
      const entry = toEntry(
        toFoundHttp(operation),
        names,
        description,
        operation,
        toHttpSlots(operation),
      )
      return { ...entry, task }
    }),
    ...surface.tools.map((tool) => {
      const names = tool.title === undefined ? [tool.name] : [tool.name, tool.title]
      const stated = tool.description === tool.name ? '' : tool.description
      const found = toFoundTool(tool, reached)
      const given = found.example?.arguments
      const slots = slotsIn(['arguments'], given, tool.input_schema, true)
      return { ...toEntry(found, names, stated, tool, slots), task: tool.task }
    }),
    ...surface.skills.map((skill) => {
      const stated = [skill.description, ...(skill.examples ?? [])].join(' ')
      return toEntry(toFoundSkill(skill, reached), [skill.name], stated)
    }),
    ...(whole === null ? [] : [toEntry(whole, [facts.name], facts.summary)]),
  ]
}

function toHttpSlots({ params = [], body, example }: KitOperation): ArgumentSlot[] {
  return [
    ...params.flatMap(({ name, in: place, schema, required, description, example: shown }) => {
      if (place === 'header') return []
      const isNeeded = required === true || place === 'path'
      const named = { name, schema, description, example: shown ?? '', required: isNeeded }
      return slotOf(place, named) ?? []
    }),
    ...slotsIn(['body'], example.body, body?.schema, true),
  ]
}

/** The price of an operation: by its own terms or, where no operation has any, the listing's. */
function readTerms(pricing: Pricing, operations: readonly OperationOffers[]) {
  const sellsOnRail = RAILS.map(
    (rail) => [rail, sellsOn(rail, operations, railsOf(pricing))] as const,
  )
  const hasOffers = operations.some(({ offers = [] }) => offers.length > 0)
  const isPriced = operations.some((operation) => lowestOf(operation) !== null)
  const listedUsd = isPriced ? null : lowestPriceOf(pricing)
  return (operation: OperationOffers) => {
    const { offers = [] } = operation
    return {
      rails: sellsOnRail.flatMap(([rail, sells]) => (sells(operation) ? [rail] : [])),
      networks: hasOffers ? offers.flatMap(({ network }) => network ?? []) : networksOf(pricing),
      offers,
      minUsd: lowestOf(operation) ?? listedUsd,
    }
  }
}
