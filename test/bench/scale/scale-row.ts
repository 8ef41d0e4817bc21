import * as v from 'valibot'
import { AcceptSchema } from './price-of-accepts.ts'

const text = v.optional(v.nullable(v.string()), '')

/** A row of `scale/*.jsonl`: what several lists said about one service, brought to one shape. */
export const ScaleRowSchema = v.object({
  kind: v.picklist(['mcp_server', 'http_api', 'a2a_agent']),
  name: text,
  title: text,
  description: text,
  url: text,
  repository: text,
  method: text,
  remotes: v.optional(v.array(v.unknown()), []),
  packages: v.optional(
    v.array(
      v.object({
        registry: text,
        identifier: text,
        version: text,
        transport: v.optional(v.nullable(v.string()), 'stdio'),
      }),
    ),
    [],
  ),
  tags: v.optional(v.array(v.string()), []),
  rails: v.optional(v.array(v.string()), []),
  networks: v.optional(v.array(v.string()), []),
  accepts: v.optional(v.array(AcceptSchema), []),
  price: v.optional(
    v.object({
      model: v.string(),
      min_usd: v.optional(v.nullable(v.number())),
      max_usd: v.optional(v.nullable(v.number())),
    }),
  ),
  discovery: v.optional(v.record(v.string(), v.unknown()), {}),
  updated: text,
  sources: v.array(v.object({ source: v.string(), ref: text })),
})
export type ScaleRow = v.InferOutput<typeof ScaleRowSchema>
