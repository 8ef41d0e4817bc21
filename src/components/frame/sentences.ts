import { html, Markup } from './html.ts'

/**
 * A sentence of ours from a table or a schema, with code as in Markdown. A single backtick stays.
 *
 * @example toCodeText('See `detail`.').text → 'See <code>detail</code>.'
 */
export function toCodeText(sentence: string): Markup {
  const pieces = sentence.split(/`([^`]+)`/)
  return html`${pieces.map((text, place) => (place % 2 === 1 ? html`<code>${text}</code>` : text))}`
}

/** The mark that ends a sentence or a bracket does not belong to the address before it. */
const ADDRESS = /(https?:\/\/[^\s"'<>]*[^\s"'<>.,;:!?)])/

/**
 * A sentence of ours whose addresses are links; those of this site are shown without their host.
 * Not for a stranger's text: that is shown unchanged.
 *
 * @example toLinkedText('See https://a.example/x.', 'https://a.example').text → 'See <a href="/x">/x</a>.'
 */
export function toLinkedText(sentence: string, baseUrl?: string): Markup {
  const pieces = sentence.split(ADDRESS).map((text, place) => {
    if (place % 2 === 0) return text
    if (baseUrl === undefined || !text.startsWith(`${baseUrl}/`))
      return html`<a href="${text}" rel="nofollow noopener">${text}</a>`
    const path = text.slice(baseUrl.length)
    return html`<a href="${path}">${path}</a>`
  })
  return html`${pieces}`
}

/** An address in code: where it is too long, it breaks after a slash and not inside a word. */
export function toPathText(path: string): Markup {
  return html`${path.split(/(?<=.)(?=\/)/).map((part, place) => [place > 0 && html`<wbr>`, part])}`
}

/**
 * A block of code with a button that copies it. Its text is only escaped for an element: quotes, of
 * which a page of code has hundreds, stay.
 *
 * @param label what is copied, for those who don't see the block
 */
export function toCopyBlock(code: string, label: string): Markup {
  const text = new Markup(code.replaceAll('&', '&amp;').replaceAll('<', '&lt;'))
  return html`
    <div class="copy">
      <pre tabindex="0" role="region" aria-label="${label}" dir="ltr"><code>${text}</code></pre>
      <button type="button" data-copy aria-label="Copy ${label}">Copy</button></div>`
}
