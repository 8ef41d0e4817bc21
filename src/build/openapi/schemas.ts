import { type JsonSchema, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema'
import * as v from 'valibot'
import {
  ChosenComparisonSchema,
  CompareListSchema,
  CompareRowSchema,
  CompareSchema,
} from '../../domain/compare/compare-view.ts'
import { CompactKitSchema } from '../../domain/kit/found-operations.ts'
import { KitInvokeSchema, KitOperationSchema } from '../../domain/kit/kit-entries.ts'
import { KitPaymentSchema, KitViewSchema } from '../../domain/kit/kit-view.ts'
import { ShownToolSchema, SkillSchema } from '../../domain/listing/listing-facts.ts'
import { PricingSchema } from '../../domain/listing/pricing.ts'
import { TaskPageSchema, TasksSchema } from '../../domain/plans/task-offers.ts'
import { TaskPlanSchema } from '../../domain/plans/task-plan.ts'
import {
  ReceiptDaysSchema,
  ReceiptKeysSchema,
  ReceiptViewSchema,
} from '../../domain/relay/receipt.ts'
import { SearchQuerySchema } from '../../domain/search/search-parameters.ts'
import * as search from '../../domain/search/search-response.ts'
import { ChangesSchema } from '../../domain/sellers/change-log.ts'
import { LintReportSchema } from '../../domain/sellers/lint.ts'
import { ReportBodySchema, ReportTakenSchema } from '../../domain/sellers/report.ts'
import { NoticeSchema } from '../../domain/trust/evidence.ts'
import {
  AuthViewSchema,
  DiscoverySchema,
  InvokeSchema,
  ListingSummarySchema,
  ListingViewSchema,
  OperationLineSchema,
  SeenCallSchema,
  TiersSchema,
} from '../../domain/views/listing-view.ts'
import {
  BusinessModelSchema,
  CategoriesSchema,
  MarketReportsSchema,
  RoadmapSchema,
  SourcesSchema,
  StatsSchema,
} from '../../domain/views/reference-views.ts'
import * as sellers from '../../domain/views/seller-views.ts'
import {
  TrustMethodSchema,
  TrustSchema,
  TrustSummarySchema,
} from '../../domain/views/trust-view.ts'
import { isProblemCode, PROBLEM_CODES } from '../../domain/wire/problems.ts'

/** `application/problem+json` for every JSON endpoint (RFC 9457). */
const ProblemSchema = v.looseObject({
  type: v.string(),
  title: v.string(),
  status: v.pipe(v.number(), v.integer()),
  detail: v.string(),
  code: v.pipe(v.string(), v.check(isProblemCode), v.metadata({ enum: PROBLEM_CODES })),
  errors: v.optional(
    v.array(
      v.object({
        in: v.picklist(['query', 'path', 'header', 'body']),
        name: v.string(),
        detail: v.string(),
        allowed: v.optional(v.array(v.union([v.string(), v.number(), v.boolean()]))),
      }),
    ),
  ),
})

/** Every body that the interface sends or takes, by its name in `#/components/schemas`. */
export const SCHEMAS = {
  SearchResponse: search.SearchResponseSchema,
  CompactSearchResponse: search.CompactResponseSchema,
  Listing: ListingViewSchema,
  Changes: ChangesSchema,
  ReportBody: ReportBodySchema,
  ReportTaken: ReportTakenSchema,
  Kit: KitViewSchema,
  CompactKit: CompactKitSchema,
  Categories: CategoriesSchema,
  Sources: SourcesSchema,
  Stats: StatsSchema,
  TrustMethod: TrustMethodSchema,
  BusinessModel: BusinessModelSchema,
  Roadmap: RoadmapSchema,
  MarketReports: MarketReportsSchema,
  CompareList: v.union([CompareListSchema, ChosenComparisonSchema]),
  Compare: CompareSchema,
  LintReport: LintReportSchema,
  Tasks: TasksSchema,
  Task: TaskPageSchema,
  TaskPlan: TaskPlanSchema,
  OperationsAnswer: search.OperationsAnswerSchema,
  LoginBody: sellers.LoginBodySchema,
  LoginSent: sellers.LoginSentSchema,
  SessionBody: sellers.SessionBodySchema,
  Session: sellers.SessionSchema,
  Me: sellers.MeSchema,
  Claims: sellers.ClaimsSchema,
  ClaimBody: sellers.ClaimBodySchema,
  OptOutBody: sellers.OptOutBodySchema,
  PayoutBody: sellers.PayoutBodySchema,
  PayoutChallenge: sellers.PayoutChallengeSchema,
  PayoutCheckBody: sellers.PayoutCheckBodySchema,
  PayoutChecked: sellers.PayoutCheckedSchema,
  PayoutState: sellers.PayoutStateSchema,
  OptOut: sellers.OptOutSchema,
  Mails: sellers.MailsSchema,
  MailsBody: sellers.MailsBodySchema,
  Receipt: ReceiptViewSchema,
  ReceiptDays: ReceiptDaysSchema,
  ReceiptKeys: ReceiptKeysSchema,
  ClaimStarted: sellers.ClaimStartedSchema,
  ClaimChecked: sellers.ClaimCheckedSchema,
  Analytics: sellers.AnalyticsSchema,
  Problem: ProblemSchema,
} satisfies Record<string, v.GenericSchema>

/** Schemas that several bodies share, or that deserve a name: written once, then referenced. */
export const SHARED_SCHEMAS = {
  SearchQuery: SearchQuerySchema,
  SearchResult: search.SearchResultSchema,
  ListingSummary: ListingSummarySchema,
  CompactRow: search.CompactRowSchema,
  Facets: search.FacetsSchema,
  Pricing: PricingSchema,
  TrustSummary: TrustSummarySchema,
  Trust: TrustSchema,
  Tiers: TiersSchema,
  Discovery: DiscoverySchema,
  Invoke: InvokeSchema,
  Auth: AuthViewSchema,
  Operation: OperationLineSchema,
  SeenCall: SeenCallSchema,
  Notice: NoticeSchema,
  Tool: ShownToolSchema,
  Skill: SkillSchema,
  KitInvoke: KitInvokeSchema,
  KitOperation: KitOperationSchema,
  KitPayment: KitPaymentSchema,
  CompareRow: CompareRowSchema,
} satisfies Record<string, v.GenericSchema>

const AS_PUBLISHED = {
  // Rules that are code have no counterpart in JSON Schema.
  errorMode: 'ignore',
  target: 'draft-2020-12',
} as const

/** Every component, each shared shape once. */
export function toComponentSchemas(): Record<string, object> {
  const { SearchQuery, TrustMethod, ...schemas } = toJsonSchemaDefs(
    { ...SCHEMAS, ...SHARED_SCHEMAS },
    { ...AS_PUBLISHED, overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}` },
  )
  const published = Object.entries({
    ...schemas,
    SearchQuery: withProperties(SearchQuery, toSilent),
    TrustMethod: withProperties(TrustMethod, toOutline),
  })
  return Object.fromEntries(
    // Request bodies are published with every rule that checks them.
    published.map(([name, schema]) => [name, name.endsWith('Body') ? schema : toAnswer(schema)]),
  )
}

/** The trust method is published as an outline: people read it, and the answer itself shows its nesting. */
function toOutline(property: JsonSchema): object {
  if (property.type === 'array') return { type: 'array', items: {} }
  return property.type === 'object' ? { type: 'object' } : property
}

/** An echoed search parameter without its description, which the parameter itself has. */
function toSilent({ description: _, ...property }: JsonSchema): object {
  return property
}

function withProperties(
  { properties = {}, ...schema }: JsonSchema,
  change: (property: JsonSchema) => object,
): object {
  const changed = Object.entries(properties).map(([name, property]) => {
    return [name, typeof property === 'boolean' ? property : change(property)]
  })
  return { ...schema, properties: Object.fromEntries(changed) }
}

/** Rules for authors of content, which readers of an answer don't need; an answer may also gain members. */
const WRITING_RULES = new Set(['pattern', 'minLength', 'maxLength', 'additionalProperties'])

function toAnswer(schema: object): object {
  // A property may have such a name; its value is then a schema, an object.
  return JSON.parse(
    JSON.stringify(schema, (key, value) => {
      if (WRITING_RULES.has(key) && typeof value !== 'object') return undefined
      return key === 'maximum' && value === Number.MAX_SAFE_INTEGER ? undefined : withoutType(value)
    }),
  )
}

const TextListSchema = v.looseObject({ type: v.literal('string'), enum: v.array(v.string()) })

/** A list of texts needs no description of its items. */
function withoutType(value: unknown): unknown {
  if (!v.is(TextListSchema, value)) return value
  const { type: _, ...rest } = value
  return rest
}

/** OpenAPI 3.1 takes JSON Schema 2020-12 as it is. */
export function toOpenApiSchema(schema: v.GenericSchema): Record<string, unknown> {
  const { $schema: _, ...rest } = toJsonSchema(schema, AS_PUBLISHED)
  return rest
}
