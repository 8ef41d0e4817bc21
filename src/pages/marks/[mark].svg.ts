import type { APIContext } from 'astro'
import { readCompiled } from '../../compiled.ts'

/** Listings' brand marks, each in its own file: a page loads only the marks that it shows. */
export function getStaticPaths() {
  const { marks } = readCompiled().site
  return Object.entries(marks).map(([mark, svg]) => ({ params: { mark }, props: { svg } }))
}

export function GET({ props }: APIContext<{ svg: string }>): Response {
  return new Response(props.svg)
}
