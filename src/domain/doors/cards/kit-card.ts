import * as v from 'valibot'
import { chooseOperation, orderByRail } from '../../kit/choose-operation.ts'
import { toOutput } from '../../kit/found-operation.ts'
import type { KitOperation } from '../../kit/kit-operations.ts'
import { type KitView, toOperationSnippets } from '../../kit/kit-view.ts'
import { fitLists } from '../../search/fitted-lists.ts'
import { SellerTextsSchema } from '../../wire/seller-texts.ts'
import type { Rail } from '../../wire/vocabulary.ts'

/** Most names in addition to the one operation or tool that is shown in full. */
const MOST_NAMED = 20
/** Lists that may be cut. The chosen operation keeps its inputs; kit.json has its answer. */
const LISTS = ['other_operations', 'tools', 'skills']

/** The part of a kit that one call needs: one operation or tool in full, the others by name. */
export const KitCardSchema = v.looseObject({
  id: v.string(),
  digest: v.string(),
  kind: v.string(),
  url: v.string(),
  cost: v.string(),
  texts: SellerTextsSchema,
})
export type KitCard = v.InferOutput<typeof KitCardSchema>

export interface KitChoice {
  /** Position of the operation or tool; by default the one a buyer most likely wants. */
  operation?: number | undefined
  snippet?: string | undefined
  /** Operations sold on it come first, and snippets pay on it. */
  rail?: Rail | undefined
}

/** @returns the card, or a sentence about a wrong choice. */
export function toKitCard(kit: KitView, choice: KitChoice): KitCard | string {
  const called = toCalled(kit, choice)
  if (typeof called === 'string') return called
  const snippet = toSnippet(kit, choice)
  if (typeof snippet === 'string') return snippet
  const { id, digest, kind, url, cost, name, auth, texts } = kit
  const { custody: _, fee_usd: _fee, relay: _relay, ...payment } = kit.payment
  const { rails } = payment
  const about = { id, digest, kind, url, cost, name, auth, ...(rails.length > 0 && { payment }) }
  return fitLists<KitCard>({ ...about, ...called, ...snippet, texts }, LISTS)
}

function toCalled(kit: KitView, choice: KitChoice): object | string {
  const { operation } = choice
  switch (kit.kind) {
    case 'http_api':
      return toOperation(kit.operations, choice)
    case 'a2a_agent':
      return {
        ...(kit.discovery.agent_card !== undefined && { agent_card: kit.discovery.agent_card }),
        skills: kit.skills.slice(0, MOST_NAMED).map(({ id, name }) => ({ id, name })),
      }
    default:
      return { invoke: kit.invoke, ...toTools(kit.tools, operation) }
  }
}

function toOperation(operations: readonly KitOperation[], choice: KitChoice): object | string {
  const chosen = findOperation(operations, choice)
  if (chosen === undefined)
    return `Unknown operation ${choice.operation}: this listing has ${operations.length}, counted from 0.`
  const numbers = new Map(operations.map((operation, index) => [operation, index]))
  const others = orderByRail(operations, choice.rail)
    .filter((operation) => operation !== chosen)
    .slice(0, MOST_NAMED)
    .map((operation) => ({
      operation: numbers.get(operation),
      call: `${operation.method} ${operation.url}`,
    }))
  const { response, ...operation } = chosen
  return {
    operation: { ...operation, ...toOutput(response) },
    ...(others.length > 0 && { other_operations: others }),
  }
}

/** Positions are those of kit.json, whatever the rail. */
function findOperation(
  operations: readonly KitOperation[],
  { operation, rail }: KitChoice,
): KitOperation | undefined {
  return operation === undefined ? chooseOperation(operations, rail) : operations[operation]
}

function toTools(
  tools: KitView['tools'],
  position: number | undefined,
): { tool?: object; tools?: object[] } {
  if (tools.length === 0) return {}
  const chosen = position === undefined ? undefined : tools[position]
  return {
    ...(chosen !== undefined && { tool: chosen }),
    tools: tools.slice(0, MOST_NAMED).map(({ name }, operation) => ({ operation, name })),
  }
}

/** A snippet calls the shown operation. */
function toSnippet(kit: KitView, choice: KitChoice): object | string {
  const { snippet } = choice
  if (snippet === undefined) return {}
  const operation = findOperation(kit.operations, choice)
  const snippets =
    operation === undefined
      ? kit.snippets
      : toOperationSnippets(kit.pricing, operation, choice.rail)
  const code = Object.hasOwn(snippets, snippet) ? snippets[snippet] : undefined
  if (code === undefined)
    return `Unknown snippet ${JSON.stringify(snippet)}; expected one of ${Object.keys(snippets).join(', ') || 'none'}.`
  return { snippet: code }
}
