/**
 * True when the Accept header names Markdown and wants it at least as much as HTML. Browsers,
 * `*` and no header at all get the page.
 *
 * @example prefersMarkdown('text/markdown, text/html;q=0.9') → true
 */
export function prefersMarkdown(accept: string | null | undefined): boolean {
  if (accept === null || accept === undefined || !accept.includes('markdown')) return false
  const quality = (type: string) => {
    const range = accept.split(',').find((part) => part.split(';')[0]?.trim() === type)
    if (range === undefined) return 0
    const given = /;\s*q=([\d.]+)/.exec(range)?.[1]
    return given === undefined ? 1 : Number(given)
  }
  const markdown = quality('text/markdown')
  return markdown > 0 && markdown >= quality('text/html')
}
