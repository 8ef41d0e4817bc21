import type { ListingView } from '../../domain/views/listing-view.ts'
import type { SourcesView } from '../../domain/views/reference-views.ts'

/** Where facts of a listing come from, as one line of its page. */
export interface SourceLine {
  text: string
  href: string
  /** Empty where the text says it already. */
  license: string
}

type Subject = Pick<ListingView, 'sources'>

/**
 * Each source of a listing's facts once, by the words it asks to be named with. Who measured its
 * payments is named where the numbers stand.
 */
export function toSourceLines(
  { sources }: Subject,
  table: Pick<SourcesView, 'sources'>['sources'],
): SourceLine[] {
  const known = new Map(table.map((row) => [row.id, row]))
  const first = new Map(sources.toReversed().map((row) => [row.source, row.ref]))
  const ids = [...new Set(sources.map(({ source }) => source))]
  return ids.map((id) => {
    const row = known.get(id)
    const text = row === undefined ? id : row.attribution || row.name
    const license = row?.license ?? ''
    const [short = ''] = license.split(' (')
    return {
      text,
      href: first.get(id) ?? '',
      license: short !== '' && text.includes(short) ? '' : license,
    }
  })
}
