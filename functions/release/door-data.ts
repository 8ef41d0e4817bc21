import * as v from 'valibot'
import { type CompareRow, CompareRowSchema } from '../../src/domain/compare/compare-row.ts'
import { type ResourceRow, ResourceRowSchema } from '../../src/domain/doors/discovery-resource.ts'
import { type RegistryRow, RegistryRowSchema } from '../../src/domain/doors/registry-entry.ts'
import { type ProbePlan, ProbePlanSchema } from '../../src/domain/probe/keep/probe-plan.ts'

/** What the doors of other directories list. Read when first asked for: most servers never are. */
export interface DoorData {
  servers(): Promise<readonly RegistryRow[]>
  resources(): Promise<readonly ResourceRow[]>
  /** Every listing as a row of a comparison, by id. */
  compareRows(): Promise<ReadonlyMap<string, CompareRow>>
  /** How each listing is probed. */
  probePlans(): Promise<readonly ProbePlan[]>
}

/** @param read the text of a data file of the release, verified */
export function createDoorData(read: (name: string) => Promise<string>): DoorData {
  return {
    servers: once(() => readRows(read, 'data/mcp-servers.ndjson', RegistryRowSchema)),
    resources: once(() => readRows(read, 'data/paid-resources.ndjson', ResourceRowSchema)),
    probePlans: once(() => readRows(read, 'data/probe-plans.ndjson', ProbePlanSchema)),
    compareRows: once(async () => {
      const rows = await readRows(read, 'data/compare-rows.ndjson', CompareRowSchema)
      return new Map(rows.map((row) => [row.id, row]))
    }),
  }
}

/** A failure is not remembered: the next request tries again. */
function once<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
}

async function readRows<Schema extends v.GenericSchema>(
  read: (name: string) => Promise<string>,
  name: string,
  schema: Schema,
): Promise<v.InferOutput<Schema>[]> {
  const parse = v.parser(schema)
  const lines = (await read(name)).split('\n')
  return lines.filter((line) => line !== '').map((line) => parse(JSON.parse(line)))
}
