import type { InferInput, InferOutput } from 'valibot'
import type { SCHEMAS, SHARED_SCHEMAS } from '../../../src/build/openapi/schemas.ts'
import type { ProbeProtocol } from '../../../src/domain/probe/finding.ts'
import type { SearchQuery } from '../../../src/domain/search/search-parameters.ts'

/**
 * What the interface sends and takes, from the schemas from which the OpenAPI document is generated. The package
 * replaces this file with declarations generated from that document (`pack/pack.ts`).
 */
type Answer<Name extends keyof typeof SCHEMAS> = InferOutput<(typeof SCHEMAS)[Name]>
type Shape<Name extends keyof typeof SHARED_SCHEMAS> = InferOutput<(typeof SHARED_SCHEMAS)[Name]>

export type Categories = Answer<'Categories'>
export type Changes = Answer<'Changes'>
export type CompactKit = Answer<'CompactKit'>
export type CompactSearchResponse = Answer<'CompactSearchResponse'>
export type Compare = Answer<'Compare'>
export type Kit = Answer<'Kit'>
export type LintReport = Answer<'LintReport'>
export type Listing = Answer<'Listing'>
export type OperationsAnswer = Answer<'OperationsAnswer'>
export type Problem = Answer<'Problem'>
export type ReportBody = InferInput<(typeof SCHEMAS)['ReportBody']>
export type ReportTaken = Answer<'ReportTaken'>
export type SearchResponse = Answer<'SearchResponse'>
export type Sources = Answer<'Sources'>
export type Stats = Answer<'Stats'>
export type Task = Answer<'Task'>
export type TaskPlan = Answer<'TaskPlan'>
export type Tasks = Answer<'Tasks'>

export type CompactRow = Shape<'CompactRow'>
export type SearchResult = Shape<'SearchResult'>

type Given<Query> = { [Name in keyof Query]?: Query[Name] | undefined }

export type SearchParameters = Given<Omit<SearchQuery, 'effect'>>
export type ChangesParameters = Given<{ since: string; limit: number }>
export type LintParameters = { url: string } & Given<{ as: ProbeProtocol }>
