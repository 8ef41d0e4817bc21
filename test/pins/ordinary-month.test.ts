import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { beforeAll, expect, test } from 'vitest'
import { docker, toolhive } from '../../seeds/sources/mcp-catalogs.ts'
import { callsOf, describeDrift, type LockEntry, toLockEntry } from '../../src/domain/pins/pins.ts'
import { EvidenceSchema } from '../../src/domain/trust/evidence.ts'
import { parseJson } from '../../src/domain/wire/json.ts'
import { kitOf } from './pinned-world.ts'

/**
 * A month of ordinary changes of three public catalogues, played against pins: servers with their
 * images and tools of ToolHive's registry, of Docker's, and priced operations of the MPP directory.
 * Every listing that changed in that month is here, with the facts of each state and no sentences; of
 * Docker's that only moved to another commit, three tools each.
 *
 * A stop is false where what its caller uses is as it was: the address, the method, the price, the
 * package, the names and texts of the pinned calls and their arguments.
 */
const ToolSchema = v.union([
  v.string(),
  v.object({
    name: v.string(),
    /** Digest of its description. */
    text: v.string(),
    arguments: v.optional(v.array(v.record(v.string(), v.unknown()))),
  }),
])
/** What differs from the state before; the first is whole. */
const StateSchema = v.object({
  image: v.optional(v.string()),
  commit: v.optional(v.string()),
  project: v.optional(v.string()),
  about: v.optional(v.string()),
  remote: v.optional(v.object({ url: v.string(), transport_type: v.string() })),
  tools: v.optional(v.array(ToolSchema)),
  url: v.optional(v.string()),
  methods: v.optional(v.array(v.string())),
  /** Base units of a dollar coin with six decimals, by method and path. */
  operations: v.optional(v.record(v.string(), v.nullable(v.number()))),
})
type State = v.InferOutput<typeof StateSchema>

const MonthSchema = v.object({ source: v.string(), listings: v.number() })
const HistorySchema = v.object({
  source: v.string(),
  name: v.string(),
  states: v.array(StateSchema),
})

const rows = readFileSync('test/fixtures/pins/ordinary-months.jsonl', 'utf8')
  .trim()
  .split('\n')
  .map((line) => parseJson(line))
const months = rows.filter((row) => v.is(MonthSchema, row))
const histories = rows.filter((row) => v.is(HistorySchema, row))

/** The states in full. */
function toStates({ states }: v.InferOutput<typeof HistorySchema>): State[] {
  return states.map((_, at) => Object.assign({}, ...states.slice(0, at + 1)))
}

const RULES = {
  allowPlaceholders: false,
  now: '2026-11-20T00:00:00.000Z',
  categories: new Set(['developer_tools']),
}

/** The kit of a catalogue's server, as our importer and a build make it. */
function toServerKit(source: string, name: string, { tools = [], about, commit, ...state }: State) {
  const importer = source === 'docker' ? docker : toolhive
  const row = {
    ...{ name, description: `Text ${about}`, about: { description: `Text ${about}` } },
    ...{ source: { project: state.project, commit }, ...state, tools },
  }
  const ids = ['docker_mcp_registry', 'toolhive_registry']
  const sources = ids.map((id) => ({ id, decision: 'used' }))
  const rules = { ...RULES, sources } as never
  const { seeds, refused } = importer.choose([row], rules)
  const [seed] = seeds
  if (seed === undefined) throw new Error(`${name}: ${JSON.stringify(refused)}`)
  const texts = new Map(
    tools.flatMap((tool) => (typeof tool === 'string' ? [] : [[tool.name, tool.text]])),
  )
  const evidence = v.parse(EvidenceSchema, seed.evidence ?? {})
  for (const tool of evidence.interface?.tools ?? []) tool.description = texts.get(tool.name) ?? ''
  const front = { ...seed.facts, summary: 'A server.', added: '2026-11-20' }
  return kitOf({ front, evidence })
}

function toServiceKit(name: string, { url = '', operations = {} }: State) {
  const priced = Object.entries(operations).map(([route, amount]) => {
    const [method, address] = toCallName(url, route).split(' ')
    const usd = amount === null ? null : amount / 1e6
    return {
      ...{ method, url: address },
      ...(usd !== null && { price: { min_usd: usd, max_usd: usd, per: 'call' } }),
    }
  })
  const prices = Object.values(operations).flatMap((amount) =>
    amount === null ? [] : amount / 1e6,
  )
  const range = { min_usd: Math.min(...prices), max_usd: Math.max(...prices) }
  const rails = { rails: ['mpp'], networks: ['eip155:4217'] }
  return kitOf({
    front: {
      ...{ name, kind: 'http_api', url, summary: 'A service.', http: priced },
      pricing: prices.length > 0 ? { model: 'per_call', ...range, ...rails } : { model: 'unknown' },
      sources: [{ source: 'mpp_services', ref: 'https://mpp.dev/' }],
      added: '2026-11-20',
    },
    evidence: {},
  })
}

const toKit = (source: string, name: string, state: State) =>
  source === 'mpp' ? toServiceKit(name, state) : toServerKit(source, name, state)

/** What the caller of one thing uses of the recorded facts, or of all of them. */
function usedOf({ image = '', remote, tools = [], url, operations = {} }: State, call?: string) {
  const isUsed = (name: string) => call === undefined || call === name
  const prices = Object.values(operations).flatMap((amount) => amount ?? [])
  // Of an operation without a price, the listing's range is all that anybody says.
  const range = [Math.min(...prices), Math.max(...prices)]
  const named = tools.map((tool) => (typeof tool === 'string' ? { name: tool } : tool))
  return JSON.stringify([
    ...[image.replace(/:[^/]*$/, ''), remote, url],
    named.filter(({ name }) => isUsed(name)),
    Object.entries(operations)
      .map(([route, amount]) => [toCallName(url, route), amount ?? range] as const)
      .filter(([name]) => isUsed(name))
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  ])
}

/** @example toCallName('https://a.example', 'GET /x/:id') → 'GET https://a.example/x/id' */
function toCallName(url: string | undefined, route: string): string {
  const [method, path = ''] = route.split(' ')
  return `${method} ${url}${path.replace(/:(\w+)/g, '$1')}`
}

type Stops = { true: number; false: number }
interface Played {
  /** `waypost check` of a pin of everything. */
  whole: Stops
  /** `waypost check` and `call` of pins that name one call each. */
  named: Stops
  /** `waypost call` under a pin of everything. */
  called: Stops
}

function play(source: string): Played {
  const played: Played = {
    ...{ whole: { true: 0, false: 0 }, named: { true: 0, false: 0 } },
    called: { true: 0, false: 0 },
  }
  const count = (stops: Stops, isStopped: boolean[], isChanged: boolean[]) => {
    if (isStopped.some((stop, at) => stop && isChanged[at] === false)) stops.false += 1
    else if (isStopped.includes(true)) stops.true += 1
  }
  for (const history of histories.filter((each) => each.source === source)) {
    const [first = {}, ...later] = toStates(history)
    const was = toKit(source, history.name, first)
    const calls = callsOf(was)
    const results = later.map((state) => ({ state, is: toKit(source, history.name, state) }))
    const all = toLockEntry(was)
    count(
      played.whole,
      results.map(({ is }) => describeDrift(all, toLockEntry(is)).length > 0),
      results.map(({ state }) => usedOf(first) !== usedOf(state)),
    )
    const each = calls.flatMap((call) => results.map((result) => ({ call, ...result })))
    const changed = each.map(({ call, state }) => usedOf(first, call) !== usedOf(state, call))
    const drift = (entry: LockEntry, is: typeof was, call: string) =>
      describeDrift(entry, toLockEntry(is, [call])).length > 0
    count(
      played.named,
      each.map(({ call, is }) => drift(toLockEntry(was, [call]), is, call)),
      changed,
    )
    count(
      played.called,
      each.map(
        ({ call, is }) =>
          is.digest !== all.digest && toLockEntry(is).calls[call] !== all.calls[call],
      ),
      changed,
    )
  }
  return played
}

let table: Record<string, Played & { listings: number }>
beforeAll(() => {
  table = Object.fromEntries(
    months.map(({ source, listings }) => [source, { listings, ...play(source) }]),
  )
})

test('fewer than one listing in a hundred is stopped though nothing its caller uses changed', () => {
  for (const { listings, ...played } of Object.values(table))
    for (const { false: stops } of Object.values(played))
      expect(stops / listings).toBeLessThan(0.01)
})

test('what stops callers in such a month', () => {
  const of = (stops: number) => ({ true: stops, false: 0 })
  expect(table).toEqual({
    // Of 38 that changed, 37 moved to another version of their image, 9 got tools.
    toolhive: { listings: 102, whole: of(9), named: of(2), called: of(2) },
    docker: { listings: 328, whole: of(3), named: of(2), called: of(2) },
    mpp: { listings: 91, whole: of(16), named: of(16), called: of(16) },
  })
})
