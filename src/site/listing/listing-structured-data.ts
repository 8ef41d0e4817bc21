import type { ListingView } from '../../domain/views/listing-view.ts'

/** JSON-LD of a listing's page (schema.org). Foreign text: print it with `toScriptJson` only. */
export function toListingStructuredData(view: ListingView, baseUrl: string) {
  const page = `${baseUrl}${view.page}`
  const { pricing } = view
  return {
    '@context': 'https://schema.org',
    '@type': view.kind === 'http_api' ? 'WebAPI' : 'SoftwareApplication',
    '@id': page,
    name: view.name,
    description: view.summary,
    url: page,
    sameAs: view.url,
    ...(view.tags.length > 0 && { keywords: view.tags.join(', ') }),
    ...(view.kind !== 'http_api' && { applicationCategory: 'DeveloperApplication' }),
    ...(view.discovery?.openapi !== undefined && { documentation: view.discovery.openapi }),
    ...(pricing.model === 'per_call' && {
      offers: {
        '@type': 'AggregateOffer',
        priceCurrency: 'USD',
        lowPrice: pricing.min_usd,
        highPrice: pricing.max_usd,
      },
    }),
  }
}
