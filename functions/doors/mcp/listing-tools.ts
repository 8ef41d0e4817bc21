import * as v from 'valibot'
import { CompareRowSchema } from '../../../src/domain/compare/compare-row.ts'
import { KitCardSchema, toKitCard } from '../../../src/domain/doors/cards/kit-card.ts'
import { ListingCardSchema, toListingCard } from '../../../src/domain/doors/cards/listing-card.ts'
import {
  CompareToolInput,
  FacetsToolInput,
  KitToolInput,
  ListingToolInput,
  OperationsToolInput,
  PlanToolInput,
  SearchToolInput,
  TOOL_RESULTS,
} from '../../../src/domain/doors/tool-inputs.ts'
import {
  type CompactKit,
  CompactKitSchema,
  toCompactKit,
} from '../../../src/domain/kit/compact-kit.ts'
import { TaskPlanSchema } from '../../../src/domain/plans/task-plan.ts'
import { fitRows, sizeOf } from '../../../src/domain/search/fitted-lists.ts'
import {
  CompactRowSchema,
  OperationsAnswerSchema,
  SuggestedSchema,
} from '../../../src/domain/search/search-response.ts'
import { SELLER_TEXTS, SellerTextsSchema } from '../../../src/domain/wire/seller-texts.ts'
import type { Directory } from '../entry/directory.ts'
import { answerWith, failWith, READ_ONLY } from './mcp-texts.ts'
import { createTool, type OfferedTool } from './mcp-tool.ts'

/** Operations searched for one that belongs to the first result. */
const MOST_OPERATIONS = 20

const FoundSchema = v.object({
  total: v.number(),
  results: v.array(CompactRowSchema),
  notes: v.array(v.string()),
  suggested: SuggestedSchema,
  texts: SellerTextsSchema,
  /** What the first call of the first result takes, where requested. */
  kit: v.optional(CompactKitSchema),
})
const ComparedSchema = v.object({
  rows: v.array(CompareRowSchema),
  ranking: v.string(),
  url: v.string(),
  texts: SellerTextsSchema,
})
const counts = v.array(v.object({ id: v.string(), count: v.number() }))
const FacetsSchema = v.object({
  total: v.number(),
  kinds: counts,
  categories: counts,
  rails: counts,
  sources: counts,
})

/** The tools that only read, in the order they are listed: all but `call_listing`. */
export function createReadingTools(directory: Directory): OfferedTool[] {
  return [
    // The same rows in the same order as `GET /api/v1/search`, compact.
    createTool('search_listings', reads(SearchToolInput, FoundSchema), async (given) => {
      const { query: q, with_kit, ...asked } = given
      const found = directory.search({ q, ...asked, limit: asked.limit ?? TOOL_RESULTS })
      if ('problems' in found) return failWith(toText(found.problems))
      const { rows, ...rest } = found
      const [first] = rows
      const kit =
        with_kit === true && first !== undefined ? await kitFor(directory, first.id, given) : null
      const beside = { ...rest, ...(kit !== null && { kit }), texts: SELLER_TEXTS }
      return answerWith({ ...beside, results: fitRows(rows, sizeOf({ ...beside, results: [] })) })
    }),
    createTool(
      'find_operations',
      reads(OperationsToolInput, OperationsAnswerSchema),
      async (asked) => {
        const { query: q, ...others } = asked
        const found = directory.findOperations({ q, ...others })
        return 'problems' in found ? failWith(toText(found.problems)) : answerWith(found)
      },
    ),
    createPlanTool(directory),
    createTool('get_listing', reads(ListingToolInput, ListingCardSchema), async ({ id }) => {
      const view = await directory.listing(id)
      return view === null ? failWith(directory.toUnknownText(id)) : answerWith(toListingCard(view))
    }),
    createTool('get_kit', reads(KitToolInput, KitCardSchema), async ({ id, ...choice }) => {
      const kit = await directory.kit(id)
      if (kit === null) return failWith(directory.toUnknownText(id))
      const card = toKitCard(kit, choice)
      return typeof card === 'string' ? failWith(card) : answerWith(card)
    }),
    createTool('compare_listings', reads(CompareToolInput, ComparedSchema), async ({ ids }) => {
      const reply = await directory.compare(ids)
      if ('problems' in reply)
        return failWith(reply.problems.map(({ name, detail }) => `${name}: ${detail}`).join('; '))
      const { sections, first_party, ranking, url } = reply.view
      const rows = [...sections.flatMap((section) => section.rows), ...first_party]
      return answerWith({ rows, ranking, url, texts: SELLER_TEXTS })
    }),
    createTool('list_facets', reads(FacetsToolInput, FacetsSchema), async () =>
      answerWith(await directory.facets()),
    ),
  ]
}

function createPlanTool(directory: Directory): OfferedTool {
  return createTool('plan_task', reads(PlanToolInput, TaskPlanSchema), async (given) => {
    const { task, ...asked } = given
    const reply = await directory.plan(task, asked)
    if ('unknown' in reply) return failWith(reply.unknown)
    return 'problems' in reply ? failWith(toText(reply.problems)) : answerWith(reply.plan)
  })
}

function reads<const Input>(input: Input, output: v.GenericSchema) {
  return { input, output, annotations: READ_ONLY }
}

/** The compact kit of a listing, with its operation that fits the words best. */
async function kitFor(
  directory: Directory,
  id: string,
  { query: q, rail, network, max_price_usd }: v.InferOutput<typeof SearchToolInput>,
): Promise<CompactKit | null> {
  const kit = await directory.kit(id)
  if (kit === null) return null
  const asked = { q, rail, network, max_price_usd, limit: MOST_OPERATIONS }
  const found = directory.findOperations(asked)
  const results = 'results' in found ? found.results : []
  const best = results.find(({ listing }) => listing.id === id)?.operation
  const operation = best?.method === undefined ? best?.name : `${best.method} ${best.url}`
  return toCompactKit(kit, { rail, operation }) ?? toCompactKit(kit, { rail })
}

interface Problem {
  name: string
  detail: string
  allowed?: readonly unknown[] | undefined
}

function toText(problems: readonly Problem[]): string {
  return problems
    .map(({ name, detail, allowed }) =>
      allowed === undefined ? `${name}: ${detail}` : `${name}: ${detail} (${allowed.join(', ')})`,
    )
    .join('; ')
}
