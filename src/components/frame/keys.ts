/** What a letter typed after `g` opens. */
export const GO_KEYS = [
  ['h', '/', 'home'],
  ['s', '/search', 'search'],
  ['c', '/compare', 'comparisons'],
  ['t', '/trust', 'the trust method'],
  ['d', '/docs', 'the API reference'],
  ['m', '/sellers/dashboard', 'your listings'],
] as const
