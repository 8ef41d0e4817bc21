import { expect, test } from 'vitest'
import { ABLATIONS } from '../bench/ablations.ts'
import { readSourceTree } from '../support/source-tree.ts'

const product = readSourceTree().filter(({ path }) => /^(?:src|functions)\//.test(path))

test.each(ABLATIONS.filter(({ edits = [] }) => edits.length > 0))(
  'what "$name" takes out is in the source',
  ({ edits = [] }) => {
    const stale = edits.filter(([file, from]) => {
      const found = product.filter(({ path }) => path.endsWith(`/${file}`))
      return found.length !== 1 || !found.some(({ text }) => text.includes(from))
    })
    expect(stale).toEqual([])
  },
)
