import { readCompiled } from '../compiled.ts'

/**
 * Everything may be read; clicks and calls are not pages. `Agentmap` is a comment, because checkers
 * of robots.txt treat an unknown directive as an error in the whole file. Every page links to the
 * same document with `rel="ard"`, and the document has its well-known address.
 */
export function GET(): Response {
  const { base_url } = readCompiled().site
  const lines = [
    'User-agent: *',
    'Disallow: /go/',
    'Disallow: /api/v1/call/',
    'Disallow: /sellers/dashboard',
    'Disallow: /sellers/sign-in',
    '',
    `Sitemap: ${base_url}/sitemap.xml`,
    `# Agentmap: ${base_url}/.well-known/ard.json`,
    '',
  ]
  return new Response(lines.join('\n'))
}
