/** What a door's query may say, read strictly: the first thing that is wrong, in words. */
export interface QueryReader {
  text(name: string, max?: number): string | undefined
  whole(name: string, least: number, most: number): number | undefined
  flag(name: string): boolean | undefined
}

export class QueryFault extends Error {}

/** @throws QueryFault naming a parameter nobody knows, or one that is given twice */
export function readQuery(search: string, known: readonly string[]): QueryReader {
  const given = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(search)) {
    if (!known.includes(name))
      throw new QueryFault(`Unknown parameter ${name}; there are ${known.join(', ')}.`)
    if (given.has(name)) throw new QueryFault(`${name} is given more than once.`)
    given.set(name, value)
  }
  return {
    text(name, max = 512) {
      const value = given.get(name)
      if (value !== undefined && value.length > max)
        throw new QueryFault(`${name}: at most ${max} characters.`)
      return value
    },
    whole(name, least, most) {
      const value = given.get(name)
      if (value === undefined) return undefined
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      if (!(number >= least && number <= most))
        throw new QueryFault(`${name}: expected a whole number from ${least} to ${most}.`)
      return number
    },
    flag(name) {
      const value = given.get(name)
      if (value === undefined) return undefined
      if (value !== 'true' && value !== 'false')
        throw new QueryFault(`${name}: expected true or false.`)
      return value === 'true'
    },
  }
}
