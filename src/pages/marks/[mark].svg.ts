import type { APIRoute } from 'astro'
import { readCompiled } from '../../compiled.ts'
import { toMarkSvg } from '../../site/marks/mark-svg.ts'

/** The marks that listings wear, each in a file of its own: a page loads those it shows. */
export function getStaticPaths() {
  const paths = readCompiled().listings.flatMap(({ view }) => view.mark ?? [])
  return [...new Set(paths)].map((path) => ({ params: { mark: path.slice(7, -4) } }))
}

export const GET: APIRoute = ({ params }) => new Response(toMarkSvg(params.mark ?? ''))
