import * as v from 'valibot'
import { normalizePayout } from '../listing/caip-account.ts'
import { textLike } from '../wire/shapes.ts'

const oneLine = (most: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(most))

/** `content/tables/independent_operators.yaml`: seeds of independence, by registrable domain. */
export const IndependentOperatorSchema = v.strictObject({
  domain: textLike(
    /^(?:[a-z0-9]+(?:-+[a-z0-9]+)*\.)+[a-z0-9]+(?:-+[a-z0-9]+)*$/,
    'expected a registrable domain in lower case such as shop.example',
  ),
  name: oneLine(80),
  /** How anybody can see that it is nobody's front. */
  why: oneLine(200),
})

/**
 * Who is whom. Listings that share a domain or a payout are one operator: what its buyers spend there
 * was given away to nobody.
 *
 * Known limit: an operator that takes another domain and another payout is another one here. What it
 * gains by that is bounded by what strangers really paid it.
 */
export interface OperatorFacts {
  id: string
  /** The domain somebody registered, or a tenant's own host. */
  owner: string
  /** CAIP-10, those that are its own: what a 402 names ties nobody. */
  owned: readonly string[]
  /** CAIP-10, proved by their holder: a signature for an address is good on every chain. */
  proven: readonly string[]
}

/**
 * @param seeds domains that stay by themselves: nobody joins one by what he publishes or proves
 * @returns the operator of each listing, by its id. Two listings of one operator have the same.
 */
export function groupOperators(
  listings: readonly OperatorFacts[],
  seeds: ReadonlySet<string>,
): Map<string, string> {
  const { find, join } = createGroups()
  for (const { owner, owned, proven } of listings) {
    if (seeds.has(owner)) continue
    for (const payout of owned) join(`domain ${owner}`, `payout ${normalizePayout(payout)}`)
    for (const payout of proven) join(`domain ${owner}`, `signer ${toAddress(payout)}`)
  }
  return new Map(listings.map(({ id, owner }) => [id, find(`domain ${owner}`)]))
}

/** @example toAddress('eip155:8453:0xAbc') → '0xabc' */
function toAddress(payout: string): string {
  return normalizePayout(payout).replace(/^.*:/, '')
}

/** Disjoint sets of names; a set is called by the first of its names in the alphabet. */
function createGroups() {
  const parents = new Map<string, string>()
  const find = (name: string): string => {
    let root = name
    for (let up = parents.get(root); up !== undefined; up = parents.get(root)) root = up
    // Later look-ups take the short way.
    for (let below = name; below !== root; ) {
      const up = parents.get(below) ?? root
      parents.set(below, root)
      below = up
    }
    return root
  }
  const join = (one: string, other: string) => {
    const [first, second] = [find(one), find(other)].sort()
    if (first !== undefined && second !== undefined && first !== second) parents.set(second, first)
  }
  return { find, join }
}
