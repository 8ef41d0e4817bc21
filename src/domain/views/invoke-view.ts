import * as v from 'valibot'
import type { InvokeEntry } from '../listing/invoke.ts'
import { PACKAGE_REGISTRIES, PACKAGE_TRANSPORTS, REMOTE_TRANSPORTS } from '../wire/vocabulary.ts'

/** spec: Invoke entry, on the wire. kit.json has environment, arguments and headers. */
export const InvokeSchema = v.variant('kind', [
  v.object({ kind: v.literal('mcp'), transport: v.picklist(REMOTE_TRANSPORTS), url: v.string() }),
  v.object({
    kind: v.literal('mcp_package'),
    transport: v.picklist(PACKAGE_TRANSPORTS),
    registry: v.picklist(PACKAGE_REGISTRIES),
    identifier: v.string(),
  }),
])

export function toInvokeView(invoke: readonly InvokeEntry[]): v.InferOutput<typeof InvokeSchema>[] {
  return invoke.map((entry) =>
    entry.kind === 'mcp'
      ? { kind: entry.kind, transport: entry.transport, url: entry.url }
      : {
          kind: entry.kind,
          transport: entry.transport,
          registry: entry.registry,
          identifier: entry.identifier,
        },
  )
}
