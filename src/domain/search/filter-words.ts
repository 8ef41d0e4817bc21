import { FILTER_ROWS, FILTERS, type Filter, type FilterName } from './search-filters.ts'

/** A value as written in a parameter: by its name where it has one. */
export function toFilterValue(name: string, value: string): string {
  const [, filter] = FILTER_ROWS.find(([known]) => known === name) ?? []
  return filter !== undefined && 'of' in filter ? (filter.named?.write(value) ?? value) : value
}

/** Words for a value of a filter; names and unknown values stay unchanged. */
export function toFilterWords(name: FilterName, value: string): string {
  const { words }: Filter = FILTERS[name]
  if (typeof words === 'function') return words(value)
  return words !== undefined && Object.hasOwn(words, value) ? (words[value] ?? value) : value
}
