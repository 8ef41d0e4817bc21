import type { APIContext } from 'astro'
import { readCompiled } from '../../compiled.ts'
import { renderSiteSitemaps } from '../../components/feeds/site-sitemaps.ts'

export function getStaticPaths() {
  const { shards } = renderSiteSitemaps(readCompiled())
  return shards.map((xml, index) => ({ params: { shard: String(index + 1) }, props: { xml } }))
}

export function GET({ props }: APIContext<{ xml: string }>): Response {
  return new Response(props.xml)
}
