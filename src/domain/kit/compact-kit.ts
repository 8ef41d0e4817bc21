import * as v from 'valibot'
import { callsOf, toDigest, toFactsOfCall } from '../pins/pins.ts'
import { SELLER_TEXTS, SellerTextsSchema } from '../wire/shapes.ts'
import { AUTH_TYPES, KINDS, RAILS, type Rail } from '../wire/vocabulary.ts'
import {
  FoundOperationSchema,
  MAX_OFFERS,
  toFoundHttp,
  toFoundSkill,
  toFoundTool,
  toFoundWhole,
  toOutput,
} from './found-operation.ts'
import { chooseOperation } from './kit-operations.ts'
import type { KitView } from './kit-view.ts'

/** How many other operations are named; more are in the full kit. */
const MOST_NAMED = 8

/** `kit.json?view=compact`: the input of the next call, and nothing else. */
export const CompactKitSchema = v.object({
  id: v.string(),
  kind: v.picklist(KINDS),
  digest: v.string(),
  auth: v.picklist(AUTH_TYPES),
  rails: v.array(v.picklist(RAILS)),
  operation: v.object({
    ...v.omit(FoundOperationSchema.entries.operation, ['bring']).entries,
    /** Digest of what its caller relies on, as in a lock; where it was requested by name. */
    digest: v.optional(v.string()),
  }),
  /** Values only the caller has: `header X-API-Key`, `env DATABASE_URL`, a `<PLACEHOLDER>`. */
  bring: v.array(v.string()),
  /** Other operations, each as `operation` takes it. */
  others: v.array(v.string()),
  more: v.optional(v.number()),
  texts: SellerTextsSchema,
})
export type CompactKit = v.InferOutput<typeof CompactKitSchema>

export interface CompactChoice {
  /** The name of an operation as in `others` or a lock, or its index in kit.json. */
  operation?: string | undefined
  rail?: Rail | undefined
}

/** @returns null for an operation it does not have */
export function toCompactKit(kit: KitView, choice: CompactChoice): CompactKit | null {
  const rows = toRows(kit)
  const names = rows.map(({ name }) => name)
  const wanted = findWanted(kit, names, choice)
  const row = rows[wanted]
  if (row === undefined && (rows.length > 0 || choice.operation !== undefined)) return null
  const others = names.filter((_, at) => at !== wanted)
  const { bring = [], ...operation } = row?.toOperation() ?? toFoundWhole(kit) ?? {}
  const { url, body } = operation.example ?? {}
  const isNamed = row !== undefined && callsOf(kit).includes(choice.operation ?? '')
  return {
    ...{ id: kit.id, kind: kit.kind, digest: kit.digest, auth: kit.auth.type },
    rails: kit.payment.rails,
    operation: {
      ...operation,
      ...(isNamed && { digest: toDigest(toFactsOfCall(kit, choice.operation ?? '')) }),
    },
    bring: [...bring, ...new Set(JSON.stringify({ url, body }).match(/<[A-Z0-9_]+>/g))],
    others: others.slice(0, MOST_NAMED),
    ...(others.length > MOST_NAMED && { more: others.length - MOST_NAMED }),
    texts: SELLER_TEXTS,
  }
}

function toRows(kit: KitView) {
  const { origin } = new URL(kit.url)
  return [
    ...kit.operations.map((each) => ({
      name: `${each.method} ${each.url.startsWith(`${origin}/`) ? each.url.slice(origin.length) : each.url}`,
      toOperation() {
        const { url, headers, body } = each.example
        const example = {
          ...(url !== each.url && { url }),
          ...(Object.keys(headers).length > 0 && { headers }),
          ...(body !== undefined && { body }),
        }
        const { offers, ...found } = toFoundHttp(each)
        return {
          ...found,
          ...(offers !== undefined && { offers: offers.slice(0, MAX_OFFERS) }),
          ...toOutput(each.response),
          ...(Object.keys(example).length > 0 && { example }),
        }
      },
    })),
    ...kit.tools.map((tool) => ({
      name: tool.name,
      toOperation: () => toFoundTool(tool, kit),
    })),
    ...kit.skills.map((skill) => ({
      name: skill.id,
      toOperation: () => toFoundSkill(skill, kit),
    })),
  ]
}

/** @returns the index of the wanted row, -1 where no row fits */
function findWanted(
  { operations, skills }: KitView,
  names: readonly string[],
  { operation, rail }: CompactChoice,
): number {
  const pinned = operations.findIndex(({ method, url }) => `${method} ${url}` === operation)
  if (pinned >= 0) return pinned
  const named = skills.findIndex(({ name }) => name === operation)
  if (named >= 0) return named
  if (operation !== undefined)
    return /^\d{1,4}$/.test(operation) ? Number(operation) : names.indexOf(operation)
  const chosen = chooseOperation(operations, rail)
  return chosen === undefined ? 0 : operations.indexOf(chosen)
}
