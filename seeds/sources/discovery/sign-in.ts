import { readSignIn } from '../../../functions/discovery/read-sign-in.ts'
import type { SignIn } from '../../../src/domain/listing/sign-in.ts'
import type { SellerReader } from '../../facts/seed-source.ts'

/** Where the remote servers among the listings are signed in to, by their own metadata, by address. */
export async function findSignIns(
  remotes: readonly string[],
  reader: SellerReader,
): Promise<Map<string, SignIn>> {
  const urls = [...new Set(remotes)]
  const found = await reader.each(urls, (url) =>
    readSignIn({ url, named: null, read: (place) => readText(reader, place) }),
  )
  return new Map(urls.flatMap((url, at) => (found[at] ? [[url, found[at]] as const] : [])))
}

async function readText(reader: SellerReader, url: string): Promise<string | null> {
  const answer = await reader.read(url)
  return answer.ok ? answer.text : null
}
