import { toOperationKey } from '../operation/is-at-address.ts'
import { newestSignIn } from '../trust/access.ts'
import type { Evidence } from '../trust/evidence.ts'
import { uniteReports } from '../trust/evidence.ts'
import { type Interface, MAX_OPERATIONS, type SeenOperation } from '../trust/interface.ts'
import { present } from '../wire/json.ts'
import type { NamedRow } from './source-row.ts'

/**
 * Machine-read facts of a listing: of two measures, of their signals and of two looks at the seller
 * itself the newer one counts, of two as old our own. The seller's documents fill in the operations
 * that the look did not see; the catalogues' facts on its tools are merged.
 *
 * @param measured the listing's own evidence file
 * @param rows in the order of precedence
 */
export function joinEvidence(measured: Evidence, rows: readonly NamedRow[]): Evidence {
  const reported = rows.flatMap(({ row }) => (row.evidence === undefined ? [] : [row.evidence]))
  if (reported.length === 0) return measured
  const all = [measured, ...reported]
  const numbers = newestOf(all.map((each) => each.measured))
  const signals = newestOf(all.map(datedSignals))
  const read = uniteInterfaces(
    all.flatMap((each) => (each.interface === undefined ? [] : [each.interface])),
  )
  const sign_in = newestSignIn(all)
  const reported_use = uniteReports(all)
  return {
    ...present({ measured: numbers, signals, interface: read }),
    ...(reported_use.length > 0 && { reported_use }),
    ...present({ sign_in }),
    ...withoutReported(measured),
  }
}

/** Signals without a day are as old as the measure they came with. */
function datedSignals({ signals, measured }: Evidence): Evidence['signals'] {
  return signals && { ...present({ as_of: measured?.as_of }), ...signals }
}

/** The first of the newest. */
function newestOf<Fact extends { as_of?: string | undefined }>(
  facts: readonly (Fact | undefined)[],
): Fact | undefined {
  return facts.reduce(
    (best, fact) => (fact && (fact.as_of ?? '') > (best?.as_of ?? '') ? fact : (best ?? fact)),
    undefined,
  )
}

function withoutReported({
  measured: _measured,
  signals: _signals,
  interface: _interface,
  sign_in: _signIn,
  reported_use: _reportedUse,
  ...rest
}: Evidence): Evidence {
  return rest
}

function uniteInterfaces(read: readonly Interface[]): Interface | undefined {
  // Neither saw the server itself answer.
  const own = read.filter(({ from }) => from !== 'catalog' && from !== 'server_card')
  const [newest, ...older] = own.toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
  if (newest !== undefined) return withDocuments(newest, older)
  const [first, ...others] = read
  return first === undefined || others.length === 0 ? first : uniteCatalogs(first, read)
}

/** A 402 tells the price of the operations that a probe called, a document that of all. */
function withDocuments(newest: Interface, older: readonly Interface[]): Interface {
  const looks = [newest, ...older]
  if (looks.every(({ operations = [] }) => operations.length === 0)) return newest
  const byKey = new Map<string, SeenOperation>()
  for (const { at, operations = [] } of looks)
    for (const { seen, ...operation } of operations) {
      const key = toOperationKey(operation)
      const known = byKey.get(key)
      // An older look's answer keeps its own time.
      const answer = seen && (at === newest.at ? seen : { at, ...seen })
      byKey.set(key, { ...operation, ...(answer && { seen: answer }), ...known })
    }
  return { ...newest, operations: [...byKey.values()].slice(0, MAX_OPERATIONS) }
}

type Tool = NonNullable<Interface['tools']>[number]

/** Catalogues may know different tools of a server; for a shared one, the richer parameters win. */
function uniteCatalogs(first: Interface, read: readonly Interface[]): Interface {
  const byName = new Map<string, Tool>()
  for (const tool of read.flatMap(({ tools = [] }) => tools)) {
    const other = byName.get(tool.name)
    const isRicher = other === undefined || richness(tool) > richness(other)
    byName.set(tool.name, isRicher ? { ...other, ...tool } : { ...tool, ...other })
  }
  const tools = [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, tool]) => tool)
  const at =
    read
      .map((each) => each.at)
      .sort()
      .at(-1) ?? first.at
  return { ...first, at, tools }
}

/** Longest first, then by text: the same one wins in whatever order they come. */
function richness(tool: Tool): string {
  const schema = JSON.stringify(tool.input_schema)
  return `${String(schema.length).padStart(8, '0')} ${JSON.stringify(tool)}`
}

/**
 * The notice of a listing that its sources withdrew and that only people, or nobody, still
 * describe; null where a source still lists it.
 */
export function toWithdrawnNotice(rows: readonly NamedRow[]) {
  const gone = rows.filter(({ row }) => row.withdrawn !== undefined)
  const [last] = gone.toSorted((a, b) =>
    (a.row.withdrawn ?? '') < (b.row.withdrawn ?? '') ? 1 : -1,
  )
  const at = last?.row.withdrawn
  return last === undefined || at === undefined || gone.length < rows.length
    ? null
    : {
        id: 'withdrawn_at_source' as const,
        note: `${last.importer} no longer lists it.`,
        at,
      }
}

/** What the first source that advises against a listing says of it, in the source's words. */
export function toDeprecatedNotices(rows: readonly NamedRow[]) {
  const [first] = rows.flatMap(({ importer, row: { deprecated, added } }) =>
    deprecated === undefined ? [] : [{ importer, added, ...deprecated }],
  )
  if (first === undefined) return []
  const { importer, added = '1970-01-01', message, at = `${added}T00:00:00Z` } = first
  const words = message === undefined ? '.' : `: ${message}`
  return [{ id: 'deprecated' as const, note: `${importer} says that it is deprecated${words}`, at }]
}
