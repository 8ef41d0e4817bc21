import markdownIt from 'markdown-it'

/**
 * Descriptions as HTML.
 *
 * Security model: descriptions are foreign text. Raw HTML becomes text, links are https or mailto
 * only and send no referrer, images become links, so nothing is fetched from elsewhere.
 *
 * Known limitations: only reviewers can judge where a link leads, and whether the text is true.
 */
const markdown = markdownIt({ html: false, linkify: false, typographer: false })
markdown.disable('image')
markdown.validateLink = (url) => /^(?:https?:|mailto:)/i.test(url.trim())
markdown.renderer.rules.link_open = (tokens, index, options, _env, self) => {
  tokens[index]?.attrSet('rel', 'nofollow ugc noopener')
  return self.renderToken(tokens, index, options)
}
/** A wide table or a long line of code scrolls in its own box, also by keyboard. */
markdown.renderer.rules.table_open = () =>
  '<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>\n'
markdown.renderer.rules.table_close = () => '</table></div>\n'
for (const rule of ['fence', 'code_block']) {
  const render = markdown.renderer.rules[rule]
  if (render !== undefined)
    markdown.renderer.rules[rule] = (tokens, at, options, env, self) =>
      render(tokens, at, options, env, self).replace('<pre>', '<pre tabindex="0">')
}

/** The page's own headings are h1 and h2; a description's headings start below them. */
const FIRST_HEADING_LEVEL = 3

/**
 * Levels follow each other whatever the source skips: a heading goes at most one level deeper than
 * the one before, and headings of equal level stay equal.
 */
markdown.core.ruler.push('heading_levels', ({ tokens }) => {
  const open: number[] = []
  for (const token of tokens) {
    if (token.type !== 'heading_open' && token.type !== 'heading_close') continue
    const level = Number(token.tag.slice(1))
    if (token.type === 'heading_open') {
      while ((open.at(-1) ?? 0) >= level) open.pop()
      open.push(level)
    }
    token.tag = `h${Math.min(6, FIRST_HEADING_LEVEL - 1 + open.length)}`
  }
})

export function renderDescription(source: string): string {
  return markdown.render(source).trim()
}
