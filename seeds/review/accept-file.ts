import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatFault } from '../../src/compile/content/fault.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { readIfThere } from '../content/content-folder.ts'
import type { ContentWriter } from '../content/content-writer.ts'
import { checkText } from './check-text.ts'
import type { ReviewFile } from './review-source.ts'

/** Where decisions are carried out. */
export interface ReviewPlace {
  contentDir: string
  /** `UNSAFE_ALLOW_PRIVATE_TARGETS`. */
  allowPrivate: boolean
}

/**
 * Puts a waiting file into the content, held against everything that `npm run check` holds it
 * against. The same file once more is no fault: a run may have been killed after it.
 *
 * @returns warnings, one line each
 * @throws OperatorError with every fault
 */
export async function acceptFile(
  place: ReviewPlace,
  writer: ContentWriter,
  file: ReviewFile,
): Promise<string[]> {
  const warnings = checkFile(place, file)
  const there = await readIfThere(join(place.contentDir, file.path))
  if (there !== null && there !== file.text)
    throw new OperatorError(
      `${file.path} is in the content already, with other words; accept under another name with --path, or refuse`,
    )
  if (there === null) await writer.write(file.path, file.text)
  return [`${file.path} is in the content; the next build lists it`, ...warnings]
}

/** @throws OperatorError with every fault. @returns warnings, one line each */
export function checkFile(place: ReviewPlace, { path, text }: ReviewFile): string[] {
  const { contentDir, allowPrivate } = place
  const faults = checkText(contentDir, path, text, { allowPrivate })
  const lines = (severity: string) =>
    faults.filter((each) => each.severity === severity).map((each) => formatFault(each, contentDir))
  const errors = lines('error')
  if (errors.length > 0)
    throw new OperatorError(`the file is no listing yet:\n  ${errors.join('\n  ')}`)
  return lines('warning')
}

/** @throws OperatorError naming a file that can't be read */
export async function readEdited(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw new OperatorError(
      `--file ${path}: ${error instanceof Error ? error.message : 'cannot be read'}`,
    )
  })
}
