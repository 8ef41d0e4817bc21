import type { APIContext } from 'astro'
import { readCompiled } from '../../compiled.ts'
import { renderSiteSitemaps, toSitePages } from '../../components/feeds/site-sitemaps.ts'

export function getStaticPaths() {
  const compiled = readCompiled()
  const { shards } = renderSiteSitemaps(compiled.site.base_url, toSitePages(compiled))
  return shards.map((xml, index) => ({ params: { shard: String(index + 1) }, props: { xml } }))
}

export function GET({ props }: APIContext<{ xml: string }>): Response {
  return new Response(props.xml)
}
