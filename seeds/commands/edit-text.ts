import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import type { ReviewFile } from '../review/review-source.ts'

/**
 * A person changes the text in an editor of theirs; it has the file's own name, so that the editor
 * knows its kind.
 *
 * @throws OperatorError without an editor, or when it ends with a fault
 */
export function editText({ path, text }: ReviewFile, env: NodeJS.ProcessEnv): string {
  const editor = env.VISUAL || env.EDITOR
  if (!editor)
    throw new OperatorError('expected an editor in VISUAL or EDITOR, or a text with --file FILE')
  const folder = mkdtempSync(join(tmpdir(), 'waypost-review-'))
  const file = join(folder, basename(path))
  try {
    writeFileSync(file, text, { mode: 0o600 })
    // As git does: the variable may hold arguments of its own.
    const { status } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], {
      stdio: 'inherit',
    })
    if (status !== 0) throw new OperatorError(`${editor} ended with a fault: nothing was changed`)
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
