import type { FoundSeller } from '../../functions/probes/find-seller.ts'
import { readSignIn } from '../../functions/probes/sign-in.ts'
import { defaultAddress, type SignIn } from '../../src/domain/listing/invoke.ts'
import { offersOf, pricingOf } from '../../src/domain/listing/operation.ts'
import { readTools, toToolFacts } from '../../src/domain/probe/mcp.ts'
import { uniteOperations } from '../../src/domain/sources/join-rows.ts'
import { isJsonObject } from '../../src/domain/wire/json.ts'
import type { Kind } from '../../src/domain/wire/vocabulary.ts'
import type { Refusal } from '../facts/map-rows.ts'
import { type ChosenSeeds, type MapRules, type Seed, toPayees } from '../facts/map-rows.ts'
import { withPlainWords } from '../facts/seed-texts.ts'
import type { SellerReader } from '../fetch/read-sellers.ts'
import type { ListedFacts, SeedSource } from '../fetch/read-source.ts'
import { toInterface } from './a2a.ts'

/** A listing to look up, by its kind, its own origin and its endpoint. */
interface Target {
  id: string
  kind: Kind
  origin: string
  /** Address of a remote server whose callers sign in, or may have to. */
  endpoint?: string
}

interface FoundTarget {
  target: Target
  found: FoundSeller
  signIn?: SignIn | undefined
}

export const discovery: SeedSource = {
  id: 'discovery',
  title:
    'the files of sellers that are listed: openapi.json, llms.txt, agent cards, MCP server cards, x402 and ARD manifests',
  liveUrl: '',
  lists: [],
  expected: 'no --from: this importer reads the sellers of existing listings',
  isRow: () => false,
  fromContent: toTargets,
  follow,
  choose: chooseFound,
}

function toTargets(listings: readonly ListedFacts[]): Target[] {
  return listings.flatMap(({ id, facts: { kind, url, invoke = [], auth } }) => {
    if (kind === undefined || kind === 'kit') return []
    const remote = invoke
      .flatMap((entry) => (entry.kind === 'mcp' ? (defaultAddress(entry) ?? []) : []))
      .at(0)
    const at = URL.parse((kind === 'mcp_server' ? remote : url) ?? '')
    const isHttp = at?.protocol === 'https:' || at?.protocol === 'http:'
    if (!isHttp) return []
    const mayAsk = auth === undefined || auth.type === 'oauth' || auth.type === 'unknown'
    const endpoint = mayAsk && remote !== undefined ? { endpoint: remote } : {}
    return [{ id, kind, origin: at.origin, ...endpoint }]
  })
}

/** Each origin is read once, however many listings it has. */
async function follow(values: readonly unknown[], reader: SellerReader) {
  const targets = values.filter(isTarget)
  const origins = [...new Set(targets.map(({ origin }) => origin))]
  const found = await reader.each(origins, (origin) => reader.find(origin))
  const signIns = await findSignIns(
    targets.flatMap(({ endpoint }) => endpoint ?? []),
    reader,
  )
  const byOrigin = new Map(found.map((seller) => [seller.origin, seller]))
  const refused: Refusal[] = []
  const read = targets.flatMap((target): FoundTarget[] => {
    const seller = byOrigin.get(target.origin)
    if (seller === undefined) return []
    const signIn = target.endpoint === undefined ? undefined : signIns.get(target.endpoint)
    if (Object.keys(seller.files).length > 0 || signIn !== undefined)
      return [{ target, found: seller, signIn }]
    const detail = `${target.origin}: ${seller.fault ?? 'nothing found'}`
    refused.push({ reason: 'nothing_found', name: target.id, detail })
    return []
  })
  return { values: read, refused }
}

function chooseFound(values: readonly unknown[], rules: MapRules): ChosenSeeds {
  // The values come from `follow` above, not from outside.
  const found = values as FoundTarget[]
  const seeds = found.map((each) => toSeed(each, rules)).sort((a, b) => (a.key < b.key ? -1 : 1))
  return { seeds, refused: [], held: [] }
}

/** A placeholder payee, left from a template, is the seller's mistake, and is reported. */
function toPlaceholders({ target, found: { api, manifest } }: FoundTarget): Refusal[] {
  return [api, manifest].flatMap((document): Refusal[] => {
    const stated = document?.placeholder
    if (stated === undefined) return []
    const detail = `payTo: expected a wallet, got the placeholder ${JSON.stringify(stated)}`
    return [{ reason: 'known_fake', name: target.id, detail }]
  })
}

function toSeed(each: FoundTarget, rules: MapRules): Seed {
  const { target, found, signIn } = each
  const { id, kind, origin } = target
  const documents = [found.api, found.manifest].flatMap((each) => each ?? [])
  const offers = offersOf(documents.flatMap(({ operations }) => operations))
  const pricing = pricingOf(offers.filter(({ max_usd }) => max_usd > 0))
  const evidence = {
    ...toInterfaceOf(kind, found, rules),
    ...(signIn !== undefined && { sign_in: { at: rules.now, ...signIn } }),
  }
  const isPaid = id.startsWith('x402.') && pricing.model === 'per_call'
  return {
    key: id,
    id,
    adds: true,
    rows: 1,
    withheld: ['url'],
    facts: {
      url: origin,
      discovery: { ...found.files },
      // What people or a catalogue list as unpaid stays unpaid.
      ...(isPaid && { pricing, cost: 'paid' }),
    },
    payees: toPayees(documents.flatMap(({ payees }) => payees)),
    dropped: toPlaceholders(each),
    ...(Object.keys(evidence).length > 0 && { evidence }),
  }
}

function toInterfaceOf(kind: Kind, found: FoundSeller, rules: MapRules) {
  const { api, manifest, card, serverCard } = found
  const stated = [api, manifest].flatMap((each) => each?.operations ?? [])
  if (kind === 'http_api' && stated.length > 0) {
    const operations = withPlainWords(uniteOperations(stated))
    const isCut = api?.truncated === true || manifest?.truncated === true
    const from = (api?.operations.length ?? 0) > 0 ? 'openapi' : 'x402'
    return { interface: { at: rules.now, from, operations, ...(isCut && { truncated: true }) } }
  }
  if (kind === 'mcp_server' && Array.isArray(serverCard?.tools)) {
    const { items, isCut } = readTools(serverCard.tools)
    // The tools' descriptions are the seller's, and are not copied.
    const tools = items.map(toToolFacts)
    if (tools.length === 0) return null
    return {
      interface: { at: rules.now, from: 'server_card', tools, ...(isCut && { truncated: true }) },
    }
  }
  return kind === 'a2a_agent' && card !== null ? { interface: toInterface(card, rules.now) } : null
}

function isTarget(value: unknown): value is Target {
  return isJsonObject(value) && typeof value.id === 'string' && typeof value.origin === 'string'
}

/** How callers sign in to the listings' remote servers, read from the servers' metadata; by address. */
async function findSignIns(
  remotes: readonly string[],
  reader: SellerReader,
): Promise<Map<string, SignIn>> {
  const urls = [...new Set(remotes)]
  const found = await reader.each(urls, (url) =>
    readSignIn({
      url,
      named: null,
      read: async (place) => {
        const answer = await reader.read(place)
        return answer.ok ? answer.text : null
      },
    }),
  )
  return new Map(urls.flatMap((url, at) => (found[at] ? [[url, found[at]] as const] : [])))
}
