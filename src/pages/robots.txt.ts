import { readCompiled } from '../compiled.ts'

/** Everything may be read; clicks and calls are no pages. */
export function GET(): Response {
  const { base_url } = readCompiled().site
  return new Response(
    `User-agent: *\nDisallow: /go/\nDisallow: /api/v1/call/\nDisallow: /sellers/dashboard\nDisallow: /sellers/sign-in\n\nSitemap: ${base_url}/sitemap.xml\nAgentmap: ${base_url}/.well-known/ard.json\n`,
  )
}
