import { resolve } from 'node:path'
import type { H3Event } from 'h3'
import { type Feed, renderAtomFeed, toJsonFeed } from '../../src/components/feeds/atom-feed.ts'
import type { Change } from '../../src/domain/changes/change-log.ts'
import { parseSearchParameters } from '../../src/domain/search/search-parameters.ts'
import type { SearchQuery } from '../../src/domain/search/search-query.ts'
import { pagePath } from '../../src/domain/wire/links.ts'
import { NOTICE_TITLES } from '../../src/domain/wire/vocabulary.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import { readId } from '../../src/search/index/load-index.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import { refuseParameters } from '../http/answers.ts'
import type { Handler, Parts } from '../parts/parts.ts'
import { toUnknownText } from '../release/release.ts'
import { clientOf, refusalOf } from '../server/rate-limits.ts'
import { createChangeLog, followLog, lastShown } from './changes.ts'

/** Changes kept of one listing, and entries of a feed. */
const KEPT = 20
const FEED_LENGTH = 50
/** The feed of a search follows it as far down as people read. */
const FOLLOWED_RESULTS = 50

/** `/listing/<id>.atom` and `.json`, `/search.atom?…` and `.json`: what changed, newest first. */
export function createFeeds(parts: Omit<Parts, 'ledger'>): Handler {
  const { problem, limits, config } = parts
  const changesOf = createChangeIndex(parts)
  return async function feed({ req, url }: H3Event) {
    const taken = await limits.take('search', clientOf(req, config))
    const refusal = refusalOf(taken, problem)
    if (refusal !== null) return refusal
    const subject = findSubject(parts, url)
    if (subject instanceof Response) return subject
    const made = toFeed(parts, await changesOf(subject.ids), {
      page: subject.page,
      self: url.pathname + url.search,
    })
    const isAtom = url.pathname.endsWith('.atom')
    return new Response(isAtom ? renderAtomFeed(made) : `${JSON.stringify(toJsonFeed(made))}\n`, {
      headers: {
        'Content-Type': `application/${isAtom ? 'atom+xml; charset=utf-8' : 'feed+json'}`,
        'Cache-Control': 'no-cache',
        'Access-Control-Allow-Origin': '*',
        'X-Content-Type-Options': 'nosniff',
        ...taken.headers,
      },
    })
  }
}

/** The listings of a feed, and the page it belongs to. */
function findSubject(parts: Pick<Parts, 'problem' | 'release'>, { pathname, search }: URL) {
  const { problem, release } = parts
  const [, id] = /^\/listing\/(.*)\.(?:atom|json)$/.exec(pathname) ?? []
  if (id !== undefined)
    return release().listings.has(id) || release().gone.has(id)
      ? { ids: [id], page: pagePath(id) }
      : problem('listing-not-found', { detail: toUnknownText(release(), id) })
  const query = search.slice(1)
  const parsed = parseSearchParameters(query, release().search.filters)
  if ('problems' in parsed) return refuseParameters(problem, parsed.problems)
  return { ids: findFirst(release().search, parsed.query), page: `/search?${query}` }
}

/** Ids that a search finds first. */
function findFirst(index: SearchIndex, query: SearchQuery): string[] {
  const asked = { ...query, offset: 0, limit: FOLLOWED_RESULTS }
  return searchIndex(index, asked).organic.rows.map((row) => readId(index, row.row))
}

function toFeed(
  { config, release }: Pick<Parts, 'config' | 'release'>,
  changes: readonly Change[],
  { page, self }: { page: string; self: string },
): Feed {
  const { site, listings } = release()
  const { BASE_URL: baseUrl } = config
  return {
    author: site.name,
    title: `${site.name}: changes of ${page.slice(1)}`,
    home: baseUrl + page,
    self: baseUrl + self,
    entries: changes.map((change) => {
      const words = describeChange(change)
      const url = baseUrl + pagePath(change.id)
      return {
        id: `${url}#${change.seq}`,
        title: `${listings.get(change.id)?.name ?? change.id}: ${words[0] ?? change.change}`,
        summary: words.join('\n'),
        ...{ url, at: change.at },
      }
    }),
  }
}

/** Changes that readers rely on, by listing, if their pages can be opened. */
function createChangeIndex({ config, release }: Pick<Parts, 'config' | 'release'>) {
  const byId = new Map<string, Change[]>()
  const readOn = followLog(
    createChangeLog(resolve(config.OUT_DIR)),
    {
      keep(row) {
        if (isNews(row)) byId.set(row.id, [...(byId.get(row.id) ?? []), row].slice(-KEPT))
      },
      forget: () => byId.clear(),
    },
    (head) => lastShown(head, release().name),
  )
  return async function changesOf(ids: readonly string[]): Promise<Change[]> {
    await readOn()
    const found = ids.flatMap((id) => byId.get(id) ?? [])
    return found.sort((a, b) => b.seq - a.seq).slice(0, FEED_LENGTH)
  }
}

/** Listings that came or left, and what a caller relies on; prose about a listing is not news. */
function isNews({ change, facts = {} }: Change): boolean {
  return change !== 'changed' || Object.keys(facts).length > 0
}

const LABELS: Readonly<Record<string, string>> = {
  ...NOTICE_TITLES,
  url: 'Address',
  price: 'Price',
  probe: 'Our probe',
  trust: 'Trust',
  payees: 'Paid to',
  digest: 'What a caller relies on',
}

/** A line each. @example describeChange(…) → ['Price: $0.01 → $0.05'] */
function describeChange({ change, facts = {}, reason }: Change): string[] {
  if (change === 'added') return ['Added to the directory']
  if (change === 'removed') return [`Removed${reason === undefined ? '' : `: ${reason}`}`]
  return Object.entries(facts).map(([name, { was, is }]) => {
    const label = LABELS[name] ?? name
    // A digest means nothing to people, and programs that compare digests have the fact itself.
    if (name === 'digest') return `${label} changed`
    if (was === undefined) return `${label}: ${is ?? ''}`
    return is === undefined ? `${label}: no longer (${was})` : `${label}: ${was} → ${is}`
  })
}
