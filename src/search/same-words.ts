/**
 * Different spellings and short forms of one thing, by stem; the first of each row is what the
 * index holds. Only pairs that mean the same in any listing stand here, not mere neighbours.
 */
const ROWS = [
  'kubernet k8s kubernetes',
  'postgres postgresql postgre pgsql',
  'javascript js',
  'typescript ts',
  'email mail',
  'image picture photo photograph pic',
  'film movie',
  'ethereum eth ether',
  'bitcoin btc',
  'cryptocurrenci crypto',
  'telephon phon',
  'elasticsearch elastic',
] as const

const CANONICAL = new Map<string, string>(
  ROWS.flatMap((row) => {
    const [first = '', ...others] = row.split(' ')
    return others.map((other): [string, string] => [other, first])
  }),
)

/** The stem that stands for this one in the index. */
export function sameWord(stem: string): string {
  return CANONICAL.get(stem) ?? stem
}
