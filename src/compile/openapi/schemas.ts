import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { ChangesSchema } from '../../domain/changes/change-log.ts'
import { KitViewSchema } from '../../domain/kit/kit-view.ts'
import { CompactResponseSchema, SearchResponseSchema } from '../../domain/search/search-response.ts'
import { BusinessModelSchema } from '../../domain/views/business-model-view.ts'
import {
  ChosenComparisonSchema,
  CompareListSchema,
  CompareSchema,
} from '../../domain/views/compare-view.ts'
import { ListingViewSchema } from '../../domain/views/listing-view.ts'
import { MarketReportsSchema } from '../../domain/views/market-view.ts'
import { CategoriesSchema, SourcesSchema } from '../../domain/views/reference-views.ts'
import { RoadmapSchema } from '../../domain/views/roadmap-view.ts'
import {
  AnalyticsSchema,
  ClaimBodySchema,
  ClaimCheckedSchema,
  ClaimStartedSchema,
  ClaimsSchema,
  LoginBodySchema,
  LoginSentSchema,
  MeSchema,
  OptOutBodySchema,
  OptOutSchema,
  PayoutBodySchema,
  PayoutChallengeSchema,
  PayoutCheckBodySchema,
  PayoutCheckedSchema,
  SessionBodySchema,
  SessionSchema,
} from '../../domain/views/seller-views.ts'
import { StatsSchema } from '../../domain/views/stats-view.ts'
import { TrustMethodSchema } from '../../domain/views/trust-method-view.ts'
import { ProblemSchema } from '../../domain/wire/problem-schema.ts'

/** Every body the interface sends or takes, by its name in `#/components/schemas`. */
export const SCHEMAS = {
  SearchResponse: SearchResponseSchema,
  CompactSearchResponse: CompactResponseSchema,
  Listing: ListingViewSchema,
  Changes: ChangesSchema,
  Kit: KitViewSchema,
  Categories: CategoriesSchema,
  Sources: SourcesSchema,
  Stats: StatsSchema,
  TrustMethod: TrustMethodSchema,
  BusinessModel: BusinessModelSchema,
  Roadmap: RoadmapSchema,
  MarketReports: MarketReportsSchema,
  CompareList: v.union([CompareListSchema, ChosenComparisonSchema]),
  Compare: CompareSchema,
  LoginBody: LoginBodySchema,
  LoginSent: LoginSentSchema,
  SessionBody: SessionBodySchema,
  Session: SessionSchema,
  Me: MeSchema,
  Claims: ClaimsSchema,
  ClaimBody: ClaimBodySchema,
  OptOutBody: OptOutBodySchema,
  PayoutBody: PayoutBodySchema,
  PayoutChallenge: PayoutChallengeSchema,
  PayoutCheckBody: PayoutCheckBodySchema,
  PayoutChecked: PayoutCheckedSchema,
  OptOut: OptOutSchema,
  ClaimStarted: ClaimStartedSchema,
  ClaimChecked: ClaimCheckedSchema,
  Analytics: AnalyticsSchema,
  Problem: ProblemSchema,
} satisfies Record<string, v.GenericSchema>

export type SchemaName = keyof typeof SCHEMAS

/** OpenAPI 3.1 takes JSON Schema 2020-12 as it is; rules that are code have no counterpart there. */
export function toOpenApiSchema(schema: v.GenericSchema): Record<string, unknown> {
  const { $schema: _, ...rest } = toJsonSchema(schema, {
    errorMode: 'ignore',
    target: 'draft-2020-12',
  })
  return rest
}

export function toRef(name: SchemaName) {
  return { $ref: `#/components/schemas/${name}` }
}
