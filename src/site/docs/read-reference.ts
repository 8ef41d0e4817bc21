import { readCompiled, readOpenApi } from '../../compiled.ts'
import { type ApiReference, toApiReference } from './api-reference.ts'

interface Reference {
  reference: ApiReference
  baseUrl: string
  exampleId: string
  /** What the fields of a form hold before anybody types, by the parameter's name. */
  examples: Readonly<Record<string, string>>
}

/** The published OpenAPI document as the pages print it, with a listing that exists for the commands. */
export function readReference(): Reference {
  const { site, listings } = readCompiled()
  const example = listings.find(({ view }) => view.buy === 'relay_x402') ?? listings[0]
  const exampleId = example?.view.id ?? '{listing_id}'
  const ids = listings.slice(0, 2).map(({ view }) => view.id)
  return {
    reference: toApiReference(readOpenApi(), { baseUrl: site.base_url, exampleId }),
    baseUrl: site.base_url,
    exampleId,
    examples: {
      q: 'web search',
      limit: '3',
      listing_id: exampleId,
      slug: site.compare[0]?.slug ?? '',
      ids: ids.join(','),
    },
  }
}
