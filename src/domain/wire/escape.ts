const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Characters that XML 1.0 allows nowhere in a document, escaped or not. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

/** Foreign text for XML. Lone surrogates become U+FFFD, because they would make the whole document unreadable. */
export function toXmlText(text: string): string {
  return escapeHtml(text.toWellFormed().replace(NOT_IN_XML, ''))
}

/** @example escapeHtml('"a" < b') → '&quot;a&quot; &lt; b' */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character)
}

/** JSON for a `<script>` element: no character can end the element, or open a comment in it. */
export function toScriptJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
