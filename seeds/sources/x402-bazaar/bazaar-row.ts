import * as v from 'valibot'
import type { Operation } from '../../../src/domain/listing/operation.ts'
import { isJsonObject } from '../../../src/domain/wire/parse-json.ts'
import { type MappedSeed, parseRow } from '../../facts/map-rows.ts'
import { type Accept, AcceptSchema } from '../../facts/price.ts'
import * as member from '../../facts/row-members.ts'

const MAX_ACCEPTS = 50

/**
 * A row of an x402 discovery answer, version 1 or 2: one endpoint with its ways to pay. Version 1
 * repeats description and shape in each way to pay, version 2 has them once; both are in use.
 */
const RowSchema = v.object({
  resource: v.pipe(v.string('expected the URL of an endpoint'), v.maxLength(2000)),
  type: v.optional(v.string(), 'http'),
  description: member.optionalText,
  serviceName: member.optionalText,
  tags: member.optionalList,
  accepts: v.pipe(
    v.array(v.unknown(), 'expected a list of ways to pay'),
    v.maxLength(MAX_ACCEPTS, `expected at most ${MAX_ACCEPTS} ways to pay`),
  ),
  extensions: member.optional(v.record(v.string(), v.unknown())),
})

export interface BazaarRow {
  resource: string
  isTool: boolean
  description: string | null
  serviceName: string | null
  tags: readonly unknown[]
  accepts: Accept[]
  /** What the seller says a call looks like, unjudged. */
  input: Record<string, unknown>
}

export function parseBazaarRow(
  value: unknown,
): { row: BazaarRow } | Extract<MappedSeed, { ok: false }> {
  const parsed = parseRow(RowSchema, value, 'resource')
  if (!('row' in parsed)) return parsed
  const { resource, type, description, serviceName, tags, accepts, extensions } = parsed.row
  const first = accepts.find(isJsonObject) ?? {}
  const said = typeof first.description === 'string' ? first.description : null
  return {
    row: {
      resource,
      isTool: type === 'mcp',
      description: description ?? said,
      serviceName: serviceName ?? null,
      tags: tags ?? [],
      accepts: accepts.flatMap((accept) => {
        const way = v.safeParse(AcceptSchema, accept)
        return way.success ? [way.output] : []
      }),
      input: inputOf(extensions ?? {}, first),
    },
  }
}

function inputOf(
  extensions: Record<string, unknown>,
  accept: Record<string, unknown>,
): Record<string, unknown> {
  const info = memberOf(memberOf(extensions, 'bazaar'), 'info')
  const current = memberOf(info, 'input')
  return Object.keys(current).length > 0
    ? current
    : memberOf(memberOf(accept, 'outputSchema'), 'input')
}

function memberOf(value: Record<string, unknown>, name: string): Record<string, unknown> {
  const member = value[name]
  return isJsonObject(member) ? member : {}
}

/** Longest example body that is carried over. */
const MAX_EXAMPLE = 2000

/** Query parameters and body, from the names both versions use. */
export function shapeOf(input: Record<string, unknown>): Pick<Operation, 'params' | 'body'> {
  const query = [input.queryParams, input.query_params, input.query, input.params].find(
    isJsonObject,
  )
  const body = isJsonObject(input.body) ? input.body : undefined
  const params = Object.entries(query ?? {})
    .filter(([name]) => /^[\w.-]{1,60}$/.test(name))
    .slice(0, 20)
    .map(([name, value]) => ({
      name,
      in: 'query' as const,
      ...(isExample(value) ? { example: value } : {}),
    }))
  const example = body !== undefined && isPlainExample(body) ? body : undefined
  return {
    ...(params.length === 0 ? {} : { params }),
    ...(example === undefined ? {} : { body: { content_type: 'application/json', example } }),
  }
}

function isExample(value: unknown): value is string | number | boolean {
  if (typeof value === 'string') return value.length <= 200 && /^[^\p{Cc}\p{Cf}]*$/u.test(value)
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
}

/** An example, not a schema in its place, and short enough to read. */
function isPlainExample(body: Record<string, unknown>): boolean {
  const length = JSON.stringify(body).length
  const isSchema = Object.values(body).some((each) => isJsonObject(each) && 'type' in each)
  return length > 2 && length <= MAX_EXAMPLE && !isSchema && body.type !== 'object'
}
