import { isJsonObject } from '../wire/json.ts'

/**
 * The identifying marks of a listing, as comparable text: two listings of one kind that share a
 * package, a remote, an operation or an agent's address are the same service in every source.
 */
export type ListingMark = string

/** Front matter of a file or facts of a source, by name. */
type Facts = Readonly<Record<string, unknown>>

/** Marks that distinguish one service from another. */
export interface Identity {
  kind: unknown
  marks: readonly ListingMark[]
  /** Marks of what it may be a part of, the nearest first. */
  around: readonly ListingMark[]
  refs: readonly string[]
  /** For an API; null for any other kind. */
  origin: string | null
  /** It names no operation, so it represents its whole origin. */
  isComplete: boolean
}

/** Read leniently: a file that `check` would refuse still must not be listed a second time. */
export function identify(facts: Facts): Identity {
  const { kind, url, http, sources } = facts
  const origin = kind === 'http_api' && typeof url === 'string' ? originOf(url) : null
  return {
    kind,
    marks: marksOf(facts),
    around: kind === 'kit' && typeof url === 'string' ? foldersOf(url).slice(1) : [],
    refs: textsOf(sources, 'ref'),
    origin,
    isComplete: origin !== null && textsOf(http, 'url').length === 0,
  }
}

export function marksOf({ kind, url, http, invoke, discovery }: Facts): ListingMark[] {
  const operations = textsOf(http, 'url')
  const own = typeof url === 'string' ? [url] : []
  const isUnnamed = kind === 'http_api' && operations.length === 0
  const agent = kind === 'a2a_agent' ? own.map((address) => `agent ${addressOf(address)}`) : []
  const cards = kind === 'a2a_agent' ? textsOf([discovery], 'agent_card').map(cardMark) : []
  const called = [...operations, ...(isUnnamed ? own : [])].map(operationMark)
  const kit = kind === 'kit' ? own.flatMap((address) => foldersOf(address).slice(0, 1)) : []
  return [...new Set([...called, ...endpointsOf(invoke), ...agent, ...cards, ...kit])]
}

/**
 * The folder of a kit in its public repository, whatever branch its address names, and its parent
 * folders, the nearest first: a kit may be all the skills of one folder.
 *
 * @example foldersOf('https://github.com/acme/kits/tree/main/skills/pdf') →
 *   ['kit github.com/acme/kits/skills/pdf', 'kit github.com/acme/kits/skills', …]
 */
function foldersOf(address: string): ListingMark[] {
  const [, repo, path = ''] =
    /^https:\/\/github\.com\/([\w-]+\/[\w.-]+)(?:\/(?:tree|blob)\/[^/]+(?:\/(.+))?)?$/.exec(
      address.replace(/\/(?:SKILL\.md)?$/, ''),
    ) ?? []
  if (repo === undefined) return []
  const names = path.split('/').filter((name) => name !== '')
  const root = `kit github.com/${repo.toLowerCase()}`
  return [...names.keys(), names.length]
    .map((length) => [root, ...names.slice(0, length)].join('/'))
    .reverse()
}

/** The ways to reach an MCP server. */
export function endpointsOf(invoke: unknown): ListingMark[] {
  return listOf(invoke).flatMap((entry) => {
    const [url] = textsOf([entry], 'url')
    if (url !== undefined) return [`remote ${addressOf(url)}${URL.parse(url)?.search ?? ''}`]
    const [registry] = textsOf([entry], 'registry')
    return textsOf([entry], 'identifier').map(
      (identifier) => `package ${registry} ${identifier.toLowerCase()}`,
    )
  })
}

/** The method doesn't count: catalogues omit it, and one address is one service. */
export function operationMark(url: string): ListingMark {
  return `operation ${addressOf(url)}`
}

/** A card is the same under its current and its former well-known name. */
function cardMark(url: string): ListingMark {
  return `card ${addressOf(url).replace(/\/agent\.json$/, '/agent-card.json')}`
}

/**
 * Scheme, host without `www.`, and port: what "the same origin" means across sources.
 *
 * @returns null for a text that is not a URL
 */
export function originOf(text: string): string | null {
  const url = URL.parse(text)
  return url === null ? null : `${url.protocol}//${url.host.replace(/^www\./, '')}`
}

/** Host and path; all spellings of a path's variables are equal. */
function addressOf(text: string): string {
  const url = URL.parse(text)
  if (url === null) return text
  const path = url.pathname
    .replace(/\/(?::[A-Za-z_][\w-]*|%7B[^/]*%7D|\{[^/]*\})(?=\/|$)/gi, '/{}')
    .replace(/\/+$/, '')
  return `${url.host.replace(/^www\./, '')}${path}`
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Texts of that name in a list of members. */
function textsOf(list: unknown, name: string): string[] {
  return listOf(list)
    .filter(isJsonObject)
    .map((row) => row[name])
    .filter((found) => typeof found === 'string')
}
