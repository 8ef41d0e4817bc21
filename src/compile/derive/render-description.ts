import markdownIt from 'markdown-it'

/**
 * Descriptions are foreign text. Raw HTML stands in the output as text, links are https or mailto
 * only and tell the other side nothing, images become links: nothing is fetched from elsewhere.
 */
const markdown = markdownIt({ html: false, linkify: false, typographer: false })
markdown.disable('image')
markdown.validateLink = (url) => /^(?:https?:|mailto:)/i.test(url.trim())
markdown.renderer.rules.link_open = (tokens, index, options, _env, self) => {
  tokens[index]?.attrSet('rel', 'nofollow ugc noopener')
  return self.renderToken(tokens, index, options)
}
/** The page's own headings are h1 and h2; a description's start below them. */
const FIRST_HEADING_LEVEL = 3
for (const rule of ['heading_open', 'heading_close'])
  markdown.renderer.rules[rule] = (tokens, index, options, _env, self) => {
    const token = tokens[index]
    if (token !== undefined)
      token.tag = `h${Math.min(6, Number(token.tag.slice(1)) + FIRST_HEADING_LEVEL - 1)}`
    return self.renderToken(tokens, index, options)
  }

export function renderDescription(source: string): string {
  return markdown.render(source).trim()
}
