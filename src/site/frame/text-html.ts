/**
 * Text as the content of an HTML element, and nowhere else: quotes stay, which a page of code has
 * hundreds of. In an attribute or a script it would not be safe.
 *
 * @example toTextHtml('"a" < b & c') → '"a" &lt; b &amp; c'
 */
export function toTextHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
