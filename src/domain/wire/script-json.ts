/**
 * JSON that may stand inside a `<script>` element: no character can end the element or open a
 * comment in it.
 *
 * @example toScriptJson({ name: '</script>' }) → '{"name":"\\u003c/script\\u003e"}'
 */
export function toScriptJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
