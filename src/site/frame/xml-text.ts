/** What XML 1.0 does not allow in a document at all, escaped or not. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g
const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/**
 * Foreign text for an XML text node or a quoted attribute. A lone surrogate becomes U+FFFD, since
 * one of them makes the whole document unreadable.
 *
 * @example toXmlText('a <b> & "c"') → 'a &lt;b&gt; &amp; &quot;c&quot;'
 */
export function toXmlText(text: string): string {
  return text
    .toWellFormed()
    .replace(FORBIDDEN, '')
    .replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character)
}
