import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import type { ProbeAnswer } from '../../src/domain/probe/finding.ts'
import { codeOf } from '../../src/domain/wire/operator-error.ts'

export type ReadBody = Pick<ProbeAnswer, 'body' | 'cut'>

const DECODERS = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
])

/** Sellers that compress unasked are read too, up to a limit. */
export async function decodeBody(
  bytes: Buffer,
  coding: string,
  cut: ProbeAnswer['cut'],
  maxOutputLength: number,
): Promise<ReadBody> {
  const toText = (decoded: Buffer) => decoded.toString('utf8').replace(/^\ufeff/, '')
  if (coding === 'identity' || coding === '') return { body: toText(bytes), cut }
  const decoder = DECODERS.get(coding)
  if (decoder === undefined || cut !== null) return { body: '', cut: cut ?? 'broken' }
  try {
    return { body: toText(await decoder(bytes, { maxOutputLength })), cut }
  } catch (error) {
    return { body: '', cut: codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? 'size' : 'broken' }
  }
}
