import { stemWord } from './stem-word.ts'

/**
 * Different spellings and short forms of one thing, by stem; the first of each row is what the
 * index holds. Only pairs that mean the same in any listing stand here, not mere neighbours.
 */
const ROWS = [
  'kubernetes k8s',
  'postgres postgresql postgre pgsql psql',
  'mongodb mongo',
  'javascript js',
  'typescript ts',
  'elasticsearch elastic',
  'email mail',
  'image picture photo photograph pic',
  'film movie',
  'summarize summary',
  'ethereum eth',
  'bitcoin btc',
  'cryptocurrency crypto',
  'purchase buy',
  'verify validate validation validator',
  'website webpage',
  'auto automatic automatically automate',
  'phone telephone',
  'euro eur',
  'dollar usd',
] as const

const CANONICAL = new Map<string, string>(
  ROWS.flatMap((row) => {
    const [first = '', ...others] = row.split(' ').map(stemWord)
    return others.map((other): [string, string] => [other, first])
  }),
)

/** The stem that stands for this one in the index. */
export function sameWord(stem: string): string {
  return CANONICAL.get(stem) ?? stem
}
