import * as v from 'valibot'
import { BASE_URL_PLACEHOLDER, findUrlFault, type UrlRules } from './target-url.ts'

/** A URL checked by `findUrlFault`; the message says what would be right. */
export function urlSchema(rules: UrlRules) {
  return checkedText('expected a URL', (text) => findUrlFault(text, rules))
}

/**
 * A URL that may also stand on this directory itself, as `{base_url}/docs`. One check, not a union:
 * a union of two strings answers "expected string" and drops what was wrong.
 */
export function ownUrlSchema(rules: UrlRules) {
  return checkedText('expected a URL', (text) => {
    if (!text.startsWith(BASE_URL_PLACEHOLDER)) return findUrlFault(text, rules)
    const path = text.slice(BASE_URL_PLACEHOLDER.length)
    if (!path.startsWith('/')) return `expected a path after ${BASE_URL_PLACEHOLDER}, such as /docs`
    return findUrlFault(`https://directory.example${path}`, rules)
  })
}

function checkedText(typeMessage: string, findFault: (text: string) => string | null) {
  return v.pipe(
    v.string(typeMessage),
    v.rawCheck(({ dataset, addIssue }) => {
      const fault = dataset.typed ? findFault(dataset.value) : null
      if (fault !== null) addIssue({ message: fault })
    }),
  )
}
