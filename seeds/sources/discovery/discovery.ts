import type { FoundSeller } from '../../../functions/discovery/find-seller.ts'
import { isJsonObject } from '../../../src/domain/wire/parse-json.ts'
import type { Refusal } from '../../facts/refusal.ts'
import type { Seed } from '../../facts/seed-facts.ts'
import type {
  ChosenSeeds,
  ListedFields,
  MapRules,
  SeedSource,
  SellerReader,
} from '../../facts/seed-source.ts'
import { withPlainWords } from '../../facts/seed-texts.ts'
import { parseAgentCard, toInterface } from '../a2a/map-agent.ts'

/** A listing, and what stands at its own origin. */
interface Target {
  file: string
  kind: string
  origin: string
  name: string
}

interface FoundTarget {
  target: Target
  found: FoundSeller
}

/** What the sellers that are listed publish about themselves. */
export const discovery: SeedSource = {
  id: 'discovery',
  title:
    'the files of sellers that are listed: openapi.json, llms.txt, agent cards, x402 and ARD manifests',
  liveUrl: '',
  promisesAll: false,
  sourceIds: [],
  parse: () => ({ values: [], refused: [], next: null }),
  fromContent: toTargets,
  follow,
  choose: chooseFound,
}

function toTargets(listings: Iterable<ListedFields>): Target[] {
  return [...listings].flatMap(({ file, fields }) => {
    const [kind, name] = [fields?.get('kind'), fields?.get('name')]
    if (typeof kind !== 'string' || typeof name !== 'string' || kind === 'kit') return []
    const address = kind === 'mcp_server' ? remoteOf(fields?.get('invoke')) : fields?.get('url')
    const url = typeof address === 'string' ? URL.parse(address) : null
    const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:'
    return url === null || !isHttp ? [] : [{ file, kind, name, origin: url.origin }]
  })
}

function remoteOf(invoke: unknown): unknown {
  const entries = Array.isArray(invoke) ? invoke.filter(isJsonObject) : []
  return entries.find(({ kind }) => kind === 'mcp')?.url
}

/** Each origin is read once, however many listings stand on it. */
async function follow(values: readonly unknown[], reader: SellerReader) {
  const targets = values.filter(isTarget)
  const origins = [...new Set(targets.map(({ origin }) => origin))]
  const found = await reader.each(origins, (origin) => reader.find(origin))
  const byOrigin = new Map(found.map((seller) => [seller.origin, seller]))
  const refused: Refusal[] = []
  const read = targets.flatMap((target): FoundTarget[] => {
    const seller = byOrigin.get(target.origin)
    if (seller === undefined) return []
    if (Object.keys(seller.files).length > 0) return [{ target, found: seller }]
    const detail = `${target.origin}: ${seller.fault ?? 'nothing found'}`
    refused.push({ reason: 'nothing_found', name: target.file, detail })
    return []
  })
  return { values: read, refused }
}

function chooseFound(values: readonly unknown[], rules: MapRules): ChosenSeeds {
  // They come from `follow` above, not from outside.
  const seeds = (values as FoundTarget[])
    .map((each) => toSeed(each, rules))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  return { seeds, refused: [], dropped: [], held: [], deleted: [] }
}

function toSeed({ target, found }: FoundTarget, rules: MapRules): Seed {
  const { file, kind, name, origin } = target
  const evidence = toInterfaceOf(kind, found, rules)
  return {
    key: file,
    into: file,
    prefix: 'x402',
    slug: 'discovery',
    published: null,
    rows: 1,
    facts: {
      name,
      kind: 'http_api',
      url: origin,
      summary: name,
      categories: [],
      sources: [],
      discovery: { ...found.files },
    },
    ...(evidence !== null && { evidence }),
  }
}

function toInterfaceOf(kind: string, { api, card }: FoundSeller, rules: MapRules) {
  if (kind === 'http_api' && api !== null && api.operations.length > 0) {
    const operations = withPlainWords(api.operations)
    const cut = api.truncated && { truncated: true }
    return { interface: { at: rules.now, from: 'openapi', operations, ...cut } }
  }
  if (kind !== 'a2a_agent' || card === null) return null
  const parsed = parseAgentCard(card)
  return 'row' in parsed ? { interface: toInterface(parsed.row, rules.now) } : null
}

function isTarget(value: unknown): value is Target {
  return isJsonObject(value) && typeof value.file === 'string' && typeof value.origin === 'string'
}
