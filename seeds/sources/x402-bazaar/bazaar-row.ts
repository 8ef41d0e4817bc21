import * as v from 'valibot'
import { readX402Offer } from '../../../src/domain/discovery/x402-offers.ts'
import { readX402Input, readX402Output } from '../../../src/domain/discovery/x402-shapes.ts'
import { isJsonObject } from '../../../src/domain/wire/parse-json.ts'
import * as member from '../../facts/row-members.ts'

const MAX_ACCEPTS = 50

const counted = v.nullish(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1e12)))

/**
 * A row of an x402 discovery answer, version 1 or 2: one endpoint with its ways to pay. Version 1
 * repeats description and shape in each way to pay, version 2 has them once; both are in use.
 */
export const BazaarRowSchema = v.pipe(
  v.object({
    resource: v.pipe(v.string('expected the URL of an endpoint'), v.maxLength(2000)),
    type: v.optional(v.string(), 'http'),
    ...member.texts('description', 'serviceName'),
    tags: member.optionalList,
    /** The catalogue's counts of its use. */
    quality: v.optional(
      v.fallback(
        v.nullable(v.object({ l30DaysTotalCalls: counted, l30DaysUniquePayers: counted })),
        null,
      ),
      null,
    ),
    /** A saved page's members next to the rows. */
    captured_utc: v.pipe(v.nullish(v.string()), v.transform(toInstant)),
    accepts: v.pipe(
      v.array(v.unknown(), 'expected a list of ways to pay'),
      v.maxLength(MAX_ACCEPTS, `expected at most ${MAX_ACCEPTS} ways to pay`),
    ),
    extensions: v.nullish(v.record(v.string(), v.unknown())),
  }),
  v.transform(({ type, description, tags, accepts, extensions, ...row }) => {
    const first = accepts.find(isJsonObject) ?? {}
    const said = typeof first.description === 'string' ? first.description : null
    return {
      ...row,
      isTool: type === 'mcp',
      description: description ?? said,
      tags: tags ?? [],
      offers: accepts.flatMap((accept) => readX402Offer(accept) ?? []),
      /** The seller's description of a call's input. */
      input: readX402Input({ extensions, accepts: [first] }),
      /** The seller's description of the output. */
      output: readX402Output({ extensions, accepts: [first] }),
    }
  }),
)
/** @example toInstant('2026-09-20T131902Z') → '2026-09-20T13:19:02Z' */
function toInstant(text: string | null | undefined): string | null {
  const [, day, hour, minute, second] =
    /^(\d{4}-\d\d-\d\d)T(\d\d):?(\d\d):?(\d\d)(?:\.\d+)?Z$/.exec(text ?? '') ?? []
  const instant = `${day}T${hour}:${minute}:${second}Z`
  return day === undefined || Number.isNaN(Date.parse(instant)) ? null : instant
}

export type BazaarRow = v.InferOutput<typeof BazaarRowSchema>
