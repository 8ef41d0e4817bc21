import { type Identity, identify } from '../facts/listing-marks.ts'
import { parseListingFields } from './listing-text.ts'

/** A listing that is in the content already. */
export interface ExistingListing extends Identity {
  /** Path from the content folder. */
  file: string
  /** Null for a link or a folder of that name. */
  text: string | null
  /** Null where the front matter can't be read. */
  fields: ReadonlyMap<string, unknown> | null
}

export function toExistingListing(file: string, text: string | null): ExistingListing {
  const fields = text === null ? null : parseListingFields(text)
  return { file, text, fields, ...identify(Object.fromEntries(fields ?? [])) }
}
