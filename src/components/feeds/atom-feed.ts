import type { Compiled } from '../../compiled.ts'
import { toXmlText } from '../../domain/wire/escape.ts'
import { compareText } from '../../domain/wire/json.ts'
import { KIND_LABELS } from '../../domain/wire/vocabulary.ts'

const FEED_LENGTH = 50

/** The newest listings as a feed; `path` is where this format is served. */
export function toListingFeed(
  { site, listings }: Pick<Compiled, 'site' | 'listings'>,
  path: string,
) {
  const { base_url: baseUrl, texts } = site
  const { name } = texts
  return {
    author: name,
    title: `${name}: new listings`,
    /** The page to which the feed belongs. */
    home: `${baseUrl}/`,
    self: `${baseUrl}${path}`,
    entries: newestOf(listings).map(({ brief: { name, kind, summary, page }, added }) => ({
      /** A URL that is unique to the entry. */
      id: `${baseUrl}${page}`,
      title: `${name} (${KIND_LABELS[kind]})`,
      summary,
      url: `${baseUrl}${page}`,
      /** RFC 3339. */
      at: `${added}T00:00:00Z`,
    })),
  }
}

/** Newest first; listings from one day by their reversed ids, so that no name or kind comes first. */
function newestOf(listings: Compiled['listings']) {
  return listings
    .filter(({ brief }) => !brief.first_party)
    .map(({ brief, added }) => ({ brief, added, fromEnd: [...brief.id].reverse().join('') }))
    .sort((a, b) => compareText(b.added, a.added) || compareText(a.fromEnd, b.fromEnd))
    .slice(0, FEED_LENGTH)
}

export type Feed = ReturnType<typeof toListingFeed>

/** An Atom 1.0 feed (RFC 4287). `updated` is the newest entry's time, so that a build changes nothing. */
export function renderAtomFeed({ author, title, home, self, entries }: Feed): string {
  const updated = entries[0]?.at ?? '1970-01-01T00:00:00Z'
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    `<title>${toXmlText(title)}</title>`,
    `<id>${toXmlText(self)}</id>`,
    `<link rel="self" type="application/atom+xml" href="${toXmlText(self)}"/>`,
    `<link rel="alternate" type="text/html" href="${toXmlText(home)}"/>`,
    `<updated>${updated}</updated>`,
    `<author><name>${toXmlText(author)}</name></author>`,
    ...entries.map(renderEntry),
    '</feed>\n',
  ].join('\n')
}

/** A JSON Feed 1.1 with the same entries. */
export function toJsonFeed({ title, home, self, entries }: Feed) {
  return {
    version: 'https://jsonfeed.org/version/1.1',
    title,
    home_page_url: home,
    feed_url: self,
    items: entries.map(({ at, ...entry }) => ({
      ...entry,
      content_text: entry.summary,
      date_published: at,
    })),
  }
}

function renderEntry({ id, title, summary, url, at }: Feed['entries'][number]): string {
  return [
    '<entry>',
    `<title>${toXmlText(title)}</title>`,
    `<id>${toXmlText(id)}</id>`,
    `<link rel="alternate" type="text/html" href="${toXmlText(url)}"/>`,
    `<updated>${at}</updated>`,
    `<summary>${toXmlText(summary)}</summary>`,
    '</entry>',
  ].join('\n')
}
